import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { start } from '#distribution';
import type { Limiter } from '../access/limits/limiter.ts';
import { LocalLimiter } from '../access/limits/local-limiter.ts';
import { deleteClosed } from '../accounts/members.ts';
import type { Database } from '../db/database.ts';
import { repeat } from '../foundation/promises.ts';
import type { Config } from '../foundation/settings/config.ts';
import { banRules } from '../foundation/settings/plans.ts';
import type { InstallationKey } from '../foundation/settings/secret-key.ts';
import { forgetOldIdempotencyKeys } from '../http/idempotency.ts';
import { deleteOldRecordings, deleteRemoved } from '../lab/recordings/store.ts';
import { forgetOldRehearsals } from '../lab/rehearsals/store.ts';
import { ChangeNotifier } from '../store/history/record.ts';
import { forgetOldEvents } from '../store/history/store.ts';
import { deleteOldDeliveries } from '../store/webhooks/delivery-store.ts';
import { Dispatcher, realTicker } from '../store/webhooks/dispatcher.ts';
import { nextRetryAtMs, oldestNeededEvent } from '../store/webhooks/lease-store.ts';
import { openSender } from '../store/webhooks/sender.ts';
import { targetPolicy, targetProblem } from '../store/webhooks/target-policy.ts';
import { buildApp } from './app.ts';
import type { AppOptions } from './components.ts';

const forgetEventsEveryMs = 60 * 1000;
/** So short that a key that starts and removes recordings without end has few removed ones. */
const deleteRemovedEveryMs = 1_000;
const sweepEveryMs = 60 * 60 * 1000;
/** How long a stop waits for requests in flight, by default. */
const stopTimeoutMs = 10_000;
/** `deploy/haproxy.cfg` notices a stop after at most 1.1 s. Requests that it sent until then have most of a second. */
export const drainMs = 2_000;
const maxPorts = 20;

export interface ServiceOptions
  extends Pick<AppOptions, 'db' | 'log' | 'clock' | 'clockStopwatch' | 'unreadLines' | 'prove'> {
  /** Its port is not 0, because responses contain the port. */
  config: Config;
  key: InstallationKey;
  /** A random number from 0 to 1 that spreads the retries of webhooks. */
  random?: () => number;
}

/** A service that listens. */
export interface Service {
  app: FastifyInstance;
  /** Sends everything that is due to webhooks, and resolves once no attempt is in flight. */
  sendDue(): Promise<void>;
  /** Removes expired data. */
  sweep(): Promise<void>;
  /** The due time of the next retry of a webhook after now. Undefined if there is none. */
  nextRetryAtMs(): Promise<number | undefined>;
  /** Clears all cached callers and ends all streams, because the storage was emptied. */
  startOver(): void;
  /** Serves on until load balancers have moved new requests to other instances. Resolves at once if there can be no other instances. */
  drain(): Promise<void>;
  /** Stops accepting requests, waits up to this time for requests in flight, and closes the storage. */
  stop(withinMs?: number): Promise<void>;
}

/** Serves an open storage: app, socket, webhooks, cleanup. `stop` closes the storage. A failed start leaves it open. */
export async function startService({
  key,
  random = Math.random,
  ...options
}: ServiceOptions): Promise<Service> {
  const { config, db, log, clock } = options;
  db.onNotice = (notice) => log.warn(notice);
  const limiter = await openLimiter(config, db, clock, log);
  const policy = targetPolicy(config);
  const installation = { key, targetProblem: (url: string) => targetProblem(url, policy) };
  const changes = new ChangeNotifier();
  const hasOthers = config.databaseUrl !== undefined;
  const sender = openSender(policy, clock);
  const dispatcher = new Dispatcher({
    ...{ db, changes, key, log, clock, random, ticker: realTicker },
    sendBatch: sender.sendBatch,
    // The lock of the data folder excludes other services.
    isAlone: !hasOthers,
  });
  const app = buildApp({ ...options, limiter, installation, dispatcher, changes, hasOthers });
  try {
    await app.listen({ port: config.port, host: config.host });
  } catch (error) {
    await app.close();
    await limiter.close();
    explainListenError(error as NodeJS.ErrnoException, config);
  }
  dispatcher.start();
  const failed = (err: unknown) => log.warn({ err }, 'expired data cannot be removed');
  const sweeps = sweepsOf(options, limiter, app);
  const ends = sweeps.map(({ everyMs, sweep }) => repeat(everyMs, sweep, failed));
  return {
    app,
    sendDue: () => dispatcher.catchUp(),
    async sweep() {
      await Promise.all(sweeps.map(({ sweep }) => sweep()));
    },
    nextRetryAtMs: () => nextRetryAtMs(db.read, clock()),
    startOver() {
      limiter.forgetAll();
      app.startOver();
      dispatcher.settingsChanged();
    },
    async drain() {
      if (!hasOthers) return;
      app.drain();
      await sleep(drainMs);
    },
    async stop(withinMs) {
      for (const end of ends) end();
      // Connections stay open after responses in progress, but no request on them would be accepted.
      const closing = setInterval(() => app.server.closeIdleConnections(), 100).unref();
      const giveUp = setTimeout(() => app.server.closeAllConnections(), withinMs ?? stopTimeoutMs).unref();
      await Promise.all([app.close(), dispatcher.stop(withinMs)]);
      clearInterval(closing);
      clearTimeout(giveUp);
      await sender.close();
      await limiter.close();
      await db.close();
    },
  };
}

/** Starts on a free port, known before since responses contain it. If another process takes the port first, tries another. */
export async function onFreePort<T>(host: string, start: (port: number) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await start(await freePort(host));
    } catch (error) {
      if (!(error instanceof PortInUseError) || tried === maxPorts) throw error;
    }
  }
}

async function freePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ port: 0, host }, resolve);
  }).catch((error) => explainListenError(error, { port: 0, host }));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Limits in this process, or shared by all instances through Valkey if it is configured. */
async function openLimiter(
  { valkeyUrls, valkeyTimeoutMs }: Config,
  db: Database,
  clock: () => number,
  log: FastifyBaseLogger,
): Promise<Limiter> {
  const local = new LocalLimiter(db, clock, log);
  if (valkeyUrls.length === 0) return local;
  const { SharedLimiter } = await import('../access/limits/shared-limiter.ts');
  const shared = new SharedLimiter(local, { urls: valkeyUrls, timeoutMs: valkeyTimeoutMs }, log);
  await shared.start();
  return shared;
}

/** The cleanup tasks for expired data, and their intervals. */
function sweepsOf(
  { config, db, clock }: Pick<ServiceOptions, 'config' | 'db' | 'clock'>,
  limiter: Limiter,
  app: FastifyInstance,
) {
  const retention = { maxAgeMs: config.maxEventAgeMs, maxCount: config.maxEventCount };
  const needed = (workspaceId: number) => oldestNeededEvent(db.read, workspaceId);
  return [
    { everyMs: forgetEventsEveryMs, sweep: () => forgetOldEvents(db, retention, clock(), needed) },
    { everyMs: forgetEventsEveryMs, sweep: () => deleteOldDeliveries(db, retention, clock()) },
    { everyMs: forgetEventsEveryMs, sweep: () => forgetOldIdempotencyKeys(db, clock()) },
    { everyMs: sweepEveryMs, sweep: () => forgetOldRehearsals(db, clock()) },
    { everyMs: forgetEventsEveryMs, sweep: () => deleteOldRecordings(db, clock()) },
    { everyMs: deleteRemovedEveryMs, sweep: () => deleteRemoved(db) },
    { everyMs: forgetEventsEveryMs, sweep: () => app.sweepAccounts() },
    { everyMs: deleteRemovedEveryMs, sweep: () => deleteClosed(db, clock()) },
    { everyMs: sweepEveryMs, sweep: () => limiter.forgetOld(banRules.memoryMs) },
  ];
}

/** Another process, or another service of this one, listens on the port. */
export class PortInUseError extends Error {}

/** Explains why the server cannot listen on the configured address. */
export function explainListenError(
  error: NodeJS.ErrnoException,
  { port, host }: Pick<Config, 'port' | 'host'>,
): never {
  const { code } = error;
  if (code === 'EADDRINUSE')
    throw new PortInUseError(
      `PORT ${port} on ${host} is in use. Use another port, or a free one: PORT=0 ${start}`,
    );
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    throw new Error(`HOST ${host} is not an address of this machine.`);
  if (code === 'EACCES') throw new Error(`PORT ${port} needs more permissions. Use a port above 1023.`);
  throw error;
}
