import { Agent } from 'node:http';
import type { PlannedFault } from '../../../../src/lab/rehearsals/schema.ts';
import { requestOnce } from '../../../support/request-once.ts';

/** The input of a client: the address of the API, its key, and time that passes at any speed. */
export interface Api {
  /** Ends in `/v1`. */
  url: string;
  key: string;
  now(): number;
  sleep(ms: number): Promise<void>;
}

export type LabClient = (api: Api) => Promise<unknown>;

/** A client that passes a check and one that fails it, under faults that distinguish them. */
export interface CheckPair {
  faults?: readonly PlannedFault[];
  careful: LabClient;
  careless: LabClient;
  /** The result of the careless one. Default: `failed`. */
  result?: 'not_observed';
  /** The evidence requests of the careless one. */
  shows: readonly string[];
}

/** A careful client that superficially looks careless. */
export interface Bystander {
  /** The required check that it must not fail. */
  check: string;
  faults?: CheckPair['faults'];
  client: LabClient;
}

type Sent = Pick<NonNullable<Parameters<typeof requestOnce>[1]>, 'method' | 'headers' | 'limitMs'> & {
  body?: unknown;
};

/** A complete response. */
export type Answer = Omit<Awaited<ReturnType<typeof requestOnce>>, 'headers'> & { headers: Headers };

/** Sends a request, and reads the whole response. Rejects if the connection breaks. */
export type Worker = (target: string, sent?: Sent) => Promise<Answer>;

/** A worker with one connection that it keeps open. */
export function startWorker({ url, key }: Pick<Api, 'url' | 'key'>): Worker {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return async (target, { method = 'GET', body, headers, limitMs } = {}) => {
    const fields = {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    };
    const sent = { method, headers: fields, body: JSON.stringify(body), agent, limitMs };
    const answer = await requestOnce(url + target, sent);
    return { ...answer, headers: new Headers(answer.headers) };
  };
}

const workers = new WeakMap<Api, Worker>();

/** Sends a request by the only worker of a simple client. */
export function send(api: Api, target: string, sent?: Sent): Promise<Answer> {
  const worker = workers.get(api) ?? startWorker(api);
  workers.set(api, worker);
  return worker(target, sent);
}

/** Ends the rehearsal of the key, as a user does after seeing enough. */
export async function endOwnRehearsal({ url, key }: Api) {
  const worker = startWorker({ url: url.replace(/v1$/, 'lab'), key });
  const [{ id }] = JSON.parse((await worker('/rehearsals')).text);
  await worker(`/rehearsals/${id}`, { method: 'DELETE' });
}

/** Runs workers of one client concurrently. */
export const together = (
  api: Api,
  count: number,
  act: (worker: Worker, number: number) => Promise<unknown>,
) => Promise.all(Array.from({ length: count }, (_, number) => act(startWorker(api), number)));

/** The same, with undefined for a connection that broke. */
export const trySend = (...request: Parameters<typeof send>): Promise<Answer | undefined> =>
  send(...request).catch(() => undefined);

export const secondMs = 1_000;

/** Waits a little longer than Retry-After, as clients with jitter do. */
export const waitFor = ({ sleep }: Api, ms: number) => sleep(ms + 200);
