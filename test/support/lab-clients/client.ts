import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** What a client gets: where the API is, its key, and time that passes as fast as it likes. */
export interface Api {
  /** Ends in `/v1`. */
  url: string;
  key: string;
  now(): number;
  sleep(ms: number): Promise<void>;
}

export type Client = (api: Api) => Promise<unknown>;

/** A client that passes a check and one that fails it, under faults that tell them apart. */
export interface Pair {
  faults: readonly { fault: string; [parameter: string]: string | number }[];
  careful: Client;
  careless: Client;
  /** What the careless one gets; `failed` without it. */
  result?: 'not_observed';
  /** The requests that show what the careless one does, as evidence names them. */
  shows: readonly string[];
}

/** A careful client that one who looks less closely takes for a careless one. */
export interface Bystander {
  /** The required check that it must not fail. */
  check: string;
  who: string;
  faults: Pair['faults'];
  client: Client;
}

interface Sent {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends a request, and reads the whole answer. Rejects if the connection breaks. */
export async function send({ url, key }: Api, target: string, { method = 'GET', body, headers }: Sent = {}) {
  const response = await fetch(url + target, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export type Answer = Awaited<ReturnType<typeof send>>;

/** The origin of the API, and where the lab is. */
const labOf = ({ url }: Api) => url.replace(/v1$/, 'lab');

/** Ends the rehearsal of the key, as somebody does who need not see the rest of it. */
export async function endRehearsal(api: Api) {
  const { text } = await send({ ...api, url: labOf(api) }, '/rehearsals');
  const [{ id }] = JSON.parse(text);
  await send({ ...api, url: labOf(api) }, `/rehearsals/${id}`, { method: 'DELETE' });
}

export type Worker = (target: string, sent?: Sent & { limitMs?: number }) => Promise<WorkerAnswer>;

/** An answer, with the status 0 if there was none. */
interface WorkerAnswer {
  status: number;
  headers: IncomingHttpHeaders;
}

/** A worker: one connection that it keeps open, and a time limit of its own if it likes. */
export function startWorker({ url, key }: Api): Worker {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (target, { method = 'GET', body, headers, limitMs } = {}) =>
    new Promise((resolve) => {
      const sending = request(
        url + target,
        {
          agent,
          method,
          headers: {
            Authorization: `Bearer ${key}`,
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(limitMs !== undefined && { signal: AbortSignal.timeout(limitMs) }),
        },
        (answer) => {
          const { statusCode: status = 0, headers } = answer;
          answer.resume().on('end', () => resolve({ status, headers }));
          answer.on('error', () => resolve({ status: 0, headers: {} }));
        },
      );
      sending.on('error', () => resolve({ status: 0, headers: {} }));
      sending.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

/** Lets workers of one client act side by side. */
export const together = (
  api: Api,
  count: number,
  act: (worker: Worker, number: number) => Promise<unknown>,
) => Promise.all(Array.from({ length: count }, (_, number) => act(startWorker(api), number)));

/** The same, with undefined for a connection that broke. */
export const trySend = (...request: Parameters<typeof send>): Promise<Answer | undefined> =>
  send(...request).catch(() => undefined);

export const secondMs = 1_000;

/** Waits a little longer than told, as clients with jitter do. */
export const waitFor = ({ sleep }: Api, ms: number) => sleep(ms + 200);
