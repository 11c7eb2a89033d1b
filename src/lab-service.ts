import { labPrefix } from './http/target.ts';

/** What is needed to talk to a running service. */
export interface Client {
  /** Where the API is, without a slash at the end. */
  baseUrl: string;
  key: string;
  /** What the user changes where this is not the right address. */
  toldBy?: string;
  /** Ends all that is asked. */
  signal?: AbortSignal;
}

/** A service that has not answered within this time is not waited for, and one that answers more than this is not listened to. */
const [answerWithinMs, maxAnswerBytes] = [60_000, 64 * 1024 * 1024];

/** An answer that was read to its end. */
export interface Answer {
  status: number;
  text: string;
  /** Its header field `Link`. */
  link: string;
}

/** Asks a running service with the key of the client. Throws what its user can do if there is no answer. */
export async function ask(
  { baseUrl, key, toldBy, signal }: Client,
  url: string,
  { method = 'GET', body }: { method?: string; body?: unknown } = {},
): Promise<Answer> {
  const silent = AbortSignal.timeout(answerWithinMs);
  try {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, silent]) : silent,
    });
    const text = await textOf(response);
    return { status: response.status, text, link: response.headers.get('link') ?? '' };
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(
      `${baseUrl} cannot be reached (${reasonOf(error)}). Is the service running?${toldBy ? ` ${toldBy} says where.` : ''}`,
      { cause: error },
    );
  }
}

/** What an answer says. */
async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new Error(`its answer is longer than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Asks the lab of a running service. Throws what its user can do about a failure. */
export class LabService {
  readonly #client: Client;
  readonly #url: string;

  constructor(client: Client) {
    this.#client = client;
    this.#url = client.baseUrl.replace(/\/v1$/, '') + labPrefix;
  }

  /** The answer, from JSON. */
  async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    return JSON.parse(await this.text(method, path, body));
  }

  /** The answer as it is. */
  async text(method: string, path: string, body?: unknown): Promise<string> {
    return (await this.#read(method, path, body)).text;
  }

  /** The items of a list, page after page. */
  async *pages<T>(path: string): AsyncGenerator<T[]> {
    for (let query: string | undefined = '?limit=100'; query !== undefined; ) {
      const { text, link } = await this.#read('GET', path + query);
      yield JSON.parse(text);
      query = nextQuery(link);
    }
  }

  /** Where something of the lab is. */
  urlOf(path: string): string {
    return this.#url + path;
  }

  async #read(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await ask(this.#client, this.#url + path, { method, body });
    const { status, text } = answer;
    if (status >= 200 && status < 300) return answer;
    const message = messageIn(text);
    if (status === 404 && !(message && isOfOneThing(path))) {
      throw new Error(
        `There is no lab at ${this.#url}. The service has one if it runs with PETSTORE_LAB=on.`,
      );
    }
    if (!message) throw new Error(`The answer of ${this.#url}${path} is ${status}.`);
    throw new Error(
      status === 401 ? `${message} The service at ${this.#client.baseUrl} has other keys.` : message,
    );
  }
}

/** The query of the next page. The address before it is the one that the service is told to have, which need not be the one asked. */
export const nextQuery = (link: string): string | undefined =>
  /<[^>?]*(\?[^>]*)>; rel="next"/.exec(link)?.[1];

/** Whether a path is that of one rehearsal or recording, which may be unknown where there is a lab. */
const isOfOneThing = (path: string) => /^\/(?:rehearsals|recordings)\/./.test(path);

/** The message of an answer in the form of errors. */
function messageIn(text: string): string | undefined {
  try {
    return JSON.parse(text).message;
  } catch {
    return undefined;
  }
}

/** `fetch` hides the reason of a failure in its cause. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? message;
}
