import type { FastifyInstance } from 'fastify';
import type { Database } from '../db/database.ts';
import { ApiError, StorageUnavailableError } from '../foundation/errors.ts';
import { memoizeFor, withTimeout } from '../foundation/promises.ts';
import { challengeField } from '../foundation/settings/service-address.ts';
import type { Metrics } from '../observe/metrics.ts';

const askStorageEveryMs = 250;
const makeMetricsEveryMs = 1_000;

export const healthPaths = ['/healthz', '/readyz', '/metrics'];

/** Whether load balancers should send requests to this instance. */
export class Readiness {
  readonly #storageAnswers: () => Promise<unknown>;
  readonly #readyMs: number;
  #isDraining = false;

  /** `stopwatch`: milliseconds of a clock that never goes back. `readyMs`: how long the storage may take. */
  constructor(db: Database, stopwatch: () => number, readyMs = 2_000) {
    const askStorage = () => Promise.all([db.touch(), db.read`select id from workspaces limit 1`]);
    this.#storageAnswers = memoizeFor(askStorageEveryMs, askStorage, stopwatch);
    this.#readyMs = readyMs;
  }

  /** Rejects while the instance drains, and unless the storage can be read and written. Concurrent callers share one check. */
  async assert(): Promise<void> {
    // HAProxy sends no new requests after a 404, and lets the others finish (`disable-on-404`).
    if (this.#isDraining) throw new ApiError('not_found', 'This instance stops soon. Use another one.');
    const late = () => new StorageUnavailableError('It does not answer in time.');
    await withTimeout(this.#readyMs, this.#storageAnswers(), late);
  }

  holds(): Promise<boolean> {
    return this.assert().then(
      () => true,
      () => false,
    );
  }

  drain(): void {
    this.#isDraining = true;
  }
}

interface Served {
  readiness: Readiness;
  metrics: Metrics;
  /** Milliseconds of a clock that never goes back. */
  stopwatch: () => number;
  prove?: ((challenge: unknown) => string | undefined) | undefined;
}

/** Serves the health endpoints. They have no rate limit, so callers share costly responses. */
export function serveHealth(app: FastifyInstance, { readiness, metrics, stopwatch, prove }: Served): void {
  const metricsText = memoizeFor(makeMetricsEveryMs, () => metrics.text(), stopwatch);
  app.get('/healthz', async ({ headers }) => {
    const proof = prove?.(headers[challengeField]);
    return { status: 'alive', ...(proof && { proof }) };
  });
  app.get('/readyz', async () => {
    await readiness.assert();
    return { status: 'ready' };
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metricsText();
    return reply.type(contentType).send(text);
  });
}
