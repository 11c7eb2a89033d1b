import { type AddressInfo, createServer } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { start } from '#distribution';
import type { Database } from '../db/database.ts';
import { repeat } from '../foundation/promises.ts';
import { Changes } from '../history/changes.ts';
import { forgetOldEvents } from '../history/store.ts';
import { forgetOldKeys } from '../http/idempotency.ts';
import { deleteOldRecordings } from '../lab/recordings/recording-store.ts';
import { forgetOldRehearsals } from '../lab/rehearsals/store.ts';
import type { Limiter } from '../limits/limiter.ts';
import { LocalLimiter } from '../limits/local-limiter.ts';
import type { Log } from '../observe/log/logger.ts';
import type { Config } from '../settings/config.ts';
import type { InstallationKey } from '../settings/secret-key.ts';
import { deleteOldDeliveries } from '../webhooks/delivery-store.ts';
import { Dispatcher, realTicker } from '../webhooks/dispatcher.ts';
import { nextRetryAtMs, oldestNeededEvent } from '../webhooks/lease-store.ts';
import { openSender } from '../webhooks/sender.ts';
import { targetPolicy, targetProblem } from '../webhooks/target-policy.ts';
import { buildApp } from './app.ts';

const forgetEventsEveryMs = 60 * 1000;
const sweepEveryMs = 60 * 60 * 1000;
/** How long a stop waits for requests in flight, by default. */
const usualStopMs = 10_000;
/** How many free ports are tried in turn. */
const maxPorts = 20;

export interface ServiceParts {
  /** With a port, not 0: responses contain it. */
  config: Config;
  db: Database;
  key: InstallationKey;
  log: Log;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Milliseconds with fractions, for the times of recorded requests. It advances as `clock` does. */
  clockStopwatch?: () => number;
  /** From 0 to 1, by which retries of webhooks are spread. */
  random?: () => number;
  /** How many log lines were dropped because nobody read them. */
  unreadLines?: () => number;
  /** Responds to a challenge of a command that looks for this service. */
  prove?: ((challenge: unknown) => string | undefined) | undefined;
}

/** A service that listens. */
export interface Service {
  app: FastifyInstance;
  /** Sends to webhooks what is due by the clock, and resolves once nothing is under way. */
  sendDue(): Promise<void>;
  /** Removes what is old by the clock. */
  sweep(): Promise<void>;
  /** When the next retry of a webhook is due after now, by the clock. */
  nextRetryAtMs(): Promise<number | undefined>;
  /** Forgets all callers and ends all streams, since the storage was emptied. */
  startOver(): void;
  /** Stops taking requests, lets what is under way finish for so long, and closes the storage. */
  stop(withinMs?: number): Promise<void>;
}

/**
 * Serves an open storage: app, socket, webhooks, and what is done again and again. The storage is closed with it, not if it fails to start.
 */
export async function startService(parts: ServiceParts): Promise<Service> {
  const { config, db, key, log, clock, clockStopwatch, random = Math.random, unreadLines, prove } = parts;
  db.onNotice = (notice) => log.warn(notice);
  const limiter = await openLimiter(config, db, clock, log);
  const policy = targetPolicy(config);
  const installation = { key, targetProblem: (url: string) => targetProblem(url, policy) };
  const changes = new Changes();
  const hasOthers = config.databaseUrl !== undefined;
  const sender = openSender(policy, clock);
  const dispatcher = new Dispatcher({
    ...{ db, changes, key, log, clock, random, ticker: realTicker },
    sendBatch: sender.sendBatch,
    // The lock of the data folder keeps others away.
    isAlone: !hasOthers,
  });
  const app = buildApp({
    ...{ config, db, limiter, log, installation, dispatcher, changes, clock, prove, hasOthers },
    ...(clockStopwatch && { clockStopwatch }),
    ...(unreadLines && { unreadLines }),
  });
  try {
    await app.listen({ port: config.port, host: config.host });
  } catch (error) {
    await app.close();
    await limiter.close();
    refuse(error as NodeJS.ErrnoException, config);
  }
  dispatcher.start();
  const failed = (err: unknown) => log.warn({ err }, 'expired data cannot be removed');
  const sweeps = sweepsOf(parts, limiter);
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
    async stop(withinMs) {
      for (const end of ends) end();
      // A connection stays open after a response that was in progress. No request on it would be accepted.
      const closing = setInterval(() => app.server.closeIdleConnections(), 100).unref();
      const giveUp = setTimeout(() => app.server.closeAllConnections(), withinMs ?? usualStopMs).unref();
      await Promise.all([app.close(), dispatcher.stop(withinMs)]);
      clearInterval(closing);
      clearTimeout(giveUp);
      await sender.close();
      await limiter.close();
      await db.close();
    },
  };
}

/**
 * Starts something on a free port. Responses contain the port, so it must be known before. Another process may take it before it is
 * listened on; then another one is tried.
 */
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
  }).catch((error) => refuse(error, { port: 0, host }));
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
  const { SharedLimiter } = await import('../limits/shared-limiter.ts');
  const shared = new SharedLimiter(local, { urls: valkeyUrls, timeoutMs: valkeyTimeoutMs }, log);
  await shared.start();
  return shared;
}

/** What removes what is old, and how often. */
function sweepsOf({ config, db, clock }: ServiceParts, limiter: Limiter) {
  const retention = { maxAgeMs: config.maxEventAgeMs, maxCount: config.maxEventCount };
  const needed = (workspaceId: number) => oldestNeededEvent(db.read, workspaceId);
  return [
    { everyMs: forgetEventsEveryMs, sweep: () => forgetOldEvents(db, retention, clock(), needed) },
    { everyMs: forgetEventsEveryMs, sweep: () => deleteOldDeliveries(db, retention, clock()) },
    { everyMs: sweepEveryMs, sweep: () => forgetOldKeys(db, clock()) },
    { everyMs: sweepEveryMs, sweep: () => forgetOldRehearsals(db, clock()) },
    { everyMs: forgetEventsEveryMs, sweep: () => deleteOldRecordings(db, clock()) },
    { everyMs: sweepEveryMs, sweep: () => limiter.forgetOld(config.banRules.memoryMs) },
  ];
}

/** Another process, or another service of this one, listens on the port. */
export class PortInUseError extends Error {}

/** Explains why the server cannot listen on the configured address. */
function refuse(error: NodeJS.ErrnoException, { port, host }: Pick<Config, 'port' | 'host'>): never {
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
