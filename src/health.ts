import type { FastifyInstance } from 'fastify';
import type { Database } from './db/database.ts';
import type { Metrics } from './metrics.ts';
import { inTime, sharedFor } from './shared.ts';

const askStorageEveryMs = 250;
const makeMetricsEveryMs = 1_000;

/** The paths that tell how the service is. */
export const healthPaths = ['/healthz', '/readyz', '/metrics'];

interface Watched {
  db: Database;
  metrics: Metrics;
  /** Milliseconds of a clock that never goes back. */
  stopwatch: () => number;
  /** How long `/readyz` waits for the storage: load balancers do not wait longer. */
  readyMs: number;
}

/** Serves what tells how the service is. It has no rate limit, so callers share answers that cost something to make. */
export function serveHealth(app: FastifyInstance, { db, metrics, stopwatch, readyMs }: Watched): void {
  const askStorage = () => Promise.all([db.touch(), db.read`select id from workspaces limit 1`]);
  const storageAnswers = sharedFor(askStorageEveryMs, askStorage, stopwatch);
  const metricsText = sharedFor(makeMetricsEveryMs, () => metrics.text(), stopwatch);
  app.get('/healthz', async () => ({ status: 'alive' }));
  app.get('/readyz', async () => {
    await inTime(storageAnswers(), readyMs);
    return { status: 'ready' };
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metricsText()));
}
