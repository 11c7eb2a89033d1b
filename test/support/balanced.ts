import type { Agent } from 'node:http';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './folder.ts';
import { emptyDatabase } from './instances.ts';
import type { PostgresCluster } from './postgres-cluster.ts';
import { requestOnce } from './request-once.ts';
import { ampleKey, type Service, startService } from './service.ts';

type Three = [Service, Service, Service];

/**
 * Three instances on one database, for a load balancer. The first connects to PostgreSQL at `firstsPort`. PostgreSQL knows them as
 * `petstore-1` to `petstore-3`.
 */
export async function startServices(t: TestContext, cluster: PostgresCluster, firstsPort = cluster.port) {
  const url = await emptyDatabase(cluster);
  const folder = temporaryFolder(t);
  const start = (i: number, env: Record<string, string> = {}): Promise<Service> => {
    const own = new URL(i === 0 ? url.replace(`:${cluster.port}/`, `:${firstsPort}/`) : url);
    own.searchParams.set('application_name', `petstore-${i + 1}`);
    return startService(t, folder, {
      DATABASE_URL: own.href,
      TRUST_PROXY: 'loopback',
      LOG_LEVEL: 'error',
      ...env,
    });
  };
  // The first instance creates the tables.
  const instances: Three = [await start(0), await start(1), await start(2)];
  /** Creates a key with ample limits. */
  const addKey = () => ampleKey(folder, { DATABASE_URL: url });
  return {
    instances,
    url,
    key: await addKey(),
    addKey,
    /** Starts an ended instance again, on its port. */
    async restart(i: number): Promise<void> {
      instances[i] = await start(i, { PORT: String(portsOf(instances)[i]) });
    },
  };
}

export const portsOf = (instances: Three) =>
  instances.map(({ origin }) => Number(new URL(origin).port)) as [number, number, number];

export type RequestWords = [
  method: string,
  path: string,
  options?: { body?: unknown; agent?: Agent; 'if-match'?: string; 'idempotency-key'?: string },
];

/** A response, or no status if the connection ended before a whole one. */
export interface Outcome {
  status: number | undefined;
  etag: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes
  body: any;
}

/** Sends a request exactly once. */
export async function sendOnce(
  { origin, key }: { origin: string; key: string },
  ...[method, path, { body, agent, ...fields } = {}]: RequestWords
): Promise<Outcome> {
  const content = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { 'x-api-key': key, ...content, ...fields };
  try {
    const sent = { method, headers, body: JSON.stringify(body), agent };
    const { status, headers: received, text } = await requestOnce(`${origin}/v1${path}`, sent);
    return { status, etag: received.etag ?? '', body: text && JSON.parse(text) };
  } catch {
    return { status: undefined, etag: '', body: undefined };
  }
}
