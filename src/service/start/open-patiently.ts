import { setTimeout as sleep } from 'node:timers/promises';
import { LocalLimiter } from '../../access/limits/local-limiter.ts';
import { openMemory } from '../../db/open.ts';
import { StorageUnavailableError } from '../../foundation/errors.ts';
import type { Config } from '../../foundation/settings/config.ts';
import { installationKey } from '../../foundation/settings/secret-key.ts';
import type { Log } from '../../observe/log/logger.ts';
import { buildApp } from '../app.ts';
import { explainListenError } from '../service.ts';

const tryEveryMs = 500;
const reportEveryMs = 5_000;

/**
 * Opens the storage. While PostgreSQL cannot be reached, tries again for as long as the settings say. Meanwhile `/healthz` returns 200,
 * everything else 503, and a termination signal ends the process.
 */
export async function openPatiently<T>(config: Config, log: Log, open: () => Promise<T>): Promise<T> {
  let startMs: number | undefined;
  let waiting: { close(): Promise<void> } | undefined;
  let reports = 0;
  const end = () => process.exit();
  process.on('SIGTERM', end).on('SIGINT', end).on('SIGHUP', end);
  try {
    for (;;) {
      try {
        return await open();
      } catch (error) {
        startMs ??= performance.now();
        const waitedMs = performance.now() - startMs;
        const leftMs = config.startWaitMs - waitedMs;
        const mayPass = config.databaseUrl !== undefined && error instanceof StorageUnavailableError;
        if (!mayPass || leftMs <= 0) throw error;
        waiting ??= await serveWaiting(config, log);
        if (waitedMs >= reports * reportEveryMs) {
          reports++;
          log.warn({ reason: error.message, leftMs: Math.round(leftMs) }, 'waiting for PostgreSQL');
        }
        await sleep(Math.min(tryEveryMs, leftMs));
      }
    }
  } finally {
    await waiting?.close();
    process.off('SIGTERM', end).off('SIGINT', end).off('SIGHUP', end);
  }
}

/** Listens, with a storage that no request reaches. */
async function serveWaiting(config: Config, log: Log) {
  const db = await openMemory();
  const limiter = new LocalLimiter(db, Date.now, log);
  const installation = { key: installationKey(config), targetProblem: () => undefined };
  const app = buildApp({ config, db, limiter, log, installation, clock: Date.now, isWaiting: true });
  app.addHook('preClose', async () => app.server.closeAllConnections());
  app.addHook('onClose', async () => {
    await limiter.close();
    await db.close();
  });
  await app
    .listen({ port: config.port, host: config.host })
    .catch((error) => explainListenError(error, config));
  return app;
}
