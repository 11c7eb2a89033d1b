import { Agent, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';

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
  /** How long it waits for an answer, if it does not wait for ever. */
  limitMs?: number;
}

/** An answer that was read to its end. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** Sends a request, and reads the whole answer. Rejects if the connection breaks. */
export type Worker = (target: string, sent?: Sent) => Promise<Answer>;

/** A worker: one connection that it keeps open. */
export function startWorker({ url, key }: Pick<Api, 'url' | 'key'>): Worker {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (target, { method = 'GET', body, headers, limitMs } = {}) =>
    new Promise((resolve, reject) => {
      const fields = {
        Authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      };
      const signal = limitMs === undefined ? {} : { signal: AbortSignal.timeout(limitMs) };
      request(url + target, { agent, method, headers: fields, ...signal }, async (answer) => {
        const { statusCode: status = 0, headers } = answer;
        const text = readText(answer);
        text.then(
          (text) => resolve({ status, headers: new Headers(headers as Record<string, string>), text }),
          reject,
        );
      })
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
}

const workers = new WeakMap<Api, Worker>();

/** Lets the one worker of a simple client send a request. */
export function send(api: Api, target: string, sent?: Sent): Promise<Answer> {
  const worker = workers.get(api) ?? startWorker(api);
  workers.set(api, worker);
  return worker(target, sent);
}

/** Ends the rehearsal of the key, as somebody does who need not see the rest of it. */
export async function endRehearsal({ url, key }: Api) {
  const worker = startWorker({ url: url.replace(/v1$/, 'lab'), key });
  const [{ id }] = JSON.parse((await worker('/rehearsals')).text);
  await worker(`/rehearsals/${id}`, { method: 'DELETE' });
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
