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
  /** The requests that show what the careless one does, as evidence names them. */
  shows: readonly string[];
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

/** The same, with undefined for a connection that broke. */
export const trySend = (...request: Parameters<typeof send>): Promise<Answer | undefined> =>
  send(...request).catch(() => undefined);

export const secondMs = 1_000;

/** Waits a little longer than told, as clients with jitter do. */
export const waitFor = ({ sleep }: Api, ms: number) => sleep(ms + 200);
