import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { buildApp } from './app.ts';
import { type Config, readConfig, unknownVariable } from './config.ts';
import type { Database } from './db/database.ts';
import { prepareDemo } from './demo/prepare.ts';
import { Changes } from './history/changes.ts';
import { forgetOldEvents } from './history/store.ts';
import { forgetOldKeys } from './http/idempotency.ts';
import { forgetOldRecordings } from './lab/recordings/store.ts';
import { forgetOldRehearsals } from './lab/rehearsals/store.ts';
import type { Limiter } from './limits/limiter.ts';
import { LocalLimiter } from './limits/local-limiter.ts';
import { createLogger } from './log/logger.ts';
import { LogOutput } from './log/output.ts';
import { prettyFor } from './log/pretty.ts';
import { repeat } from './repeat.ts';
import { installationKey } from './secret-key.ts';
import { openStorage } from './storage.ts';
import { forgetOldDeliveries } from './webhooks/deliveries.ts';
import { Dispatcher, realTicker } from './webhooks/dispatcher.ts';
import { systemResolver } from './webhooks/resolve.ts';
import { send } from './webhooks/send.ts';
import { targetPolicy, targetProblem } from './webhooks/target.ts';
import { readyLine, welcome } from './welcome.ts';

const forgetEventsEveryMs = 60 * 1000;
const sweepEveryMs = 60 * 60 * 1000;
const checkParentEveryMs = 250;
/** How long requests in flight may take when the service is told to stop. */
const stopWithinMs = 10_000;
/** The last lines of the log get this long to be written. */
const lastWriteMs = 2_000;

/**
 * Opens the storage, sets up the demonstration if it is on, and serves until a signal stops it. With `tellsPrograms`
 * standard output gets one line of JSON once it is ready, and nothing else.
 */
export async function serve(config: Config, { tellsPrograms = false } = {}): Promise<void> {
  const key = installationKey(config);
  const db = await openStorage(config, { isService: true });
  try {
    const demoKey = config.demo ? await prepareDemo(db, config.dataDir, Date.now()) : undefined;
    const logStream = tellsPrograms ? process.stderr : process.stdout;
    const output = new LogOutput(logStream.fd);
    process.on('exit', () => output.flush());
    const log = createLogger(config.logLevel, output, prettyFor(config.logFormat, logStream));
    output.onReadAgain = (dropped) =>
      log.warn({ dropped }, 'nobody read the log for a while, so lines were dropped');
    for (const variable of config.unknownVariables) log.warn({ variable }, unknownVariable);
    const limiter = await openLimiter(config, db, log);
    const unreadLines = () => output.dropped;
    const served = await withPort(config);
    const policy = targetPolicy(served);
    const resolver = systemResolver();
    const installation = { key, targetProblem: (url: string) => targetProblem(url, policy) };
    const changes = new Changes();
    const clock = Date.now;
    const dispatcher = new Dispatcher({
      ...{ db, changes, key, log, clock, random: Math.random, ticker: realTicker },
      send: (outgoing, signal) => send(outgoing, { policy, resolver, signal }),
    });
    const hasOthers = config.databaseUrl !== undefined;
    const parts = {
      hasOthers,
      config: served,
      db,
      limiter,
      log,
      installation,
      dispatcher,
      changes,
      clock,
      unreadLines,
    };
    const app = buildApp(parts);
    stopOnSignal(app, dispatcher, limiter, db);
    await listen(app, served);
    dispatcher.start();
    if (tellsPrograms) new LogOutput(process.stdout.fd).write(readyLine(served, demoKey));
    else if (demoKey) output.write(welcome(served, demoKey));
    else if (config.port === 0) console.error(`petstore: PORT 0 became ${served.port}.`);
    const retention = { maxAgeMs: config.maxEventAgeMs, maxCount: config.maxEventCount };
    const failed = (err: unknown) => log.warn({ err }, 'sweeping failed');
    repeat(forgetEventsEveryMs, () => forgetOldEvents(db, retention, Date.now()), failed);
    repeat(forgetEventsEveryMs, () => forgetOldDeliveries(db, retention, Date.now()), failed);
    repeat(sweepEveryMs, () => forgetOldKeys(db, Date.now()), failed);
    repeat(sweepEveryMs, () => forgetOldRehearsals(db, Date.now()), failed);
    repeat(forgetEventsEveryMs, () => forgetOldRecordings(db, Date.now()), failed);
    repeat(sweepEveryMs, () => limiter.forgetOld(config.banRules.memoryMs), failed);
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Limits in this process, or shared by all instances through Valkey if it is configured. */
async function openLimiter(
  { valkeyUrls, valkeyTimeoutMs }: Config,
  db: Database,
  log: FastifyBaseLogger,
): Promise<Limiter> {
  const local = new LocalLimiter(db, Date.now, log);
  if (valkeyUrls.length === 0) return local;
  const { SharedLimiter } = await import('./limits/shared-limiter.ts');
  const shared = new SharedLimiter(local, { urls: valkeyUrls, timeoutMs: valkeyTimeoutMs }, log);
  await shared.start();
  return shared;
}

/** The configuration with a free port instead of 0. Answers contain the port, so it must be known before the start. */
async function withPort(config: Config): Promise<Config> {
  if (config.port !== 0) return config;
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ port: 0, host: config.host }, resolve);
  }).catch((error) => refuse(error, config));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return readConfig({ ...process.env, PORT: String(port) });
}

const listen = (app: FastifyInstance, { port, host }: Config) =>
  app.listen({ port, host }).catch((error) => refuse(error, { port, host }));

/** Explains why the server cannot listen on the configured address. */
function refuse(error: NodeJS.ErrnoException, { port, host }: Pick<Config, 'port' | 'host'>): never {
  const { code } = error;
  if (code === 'EADDRINUSE')
    throw new Error(`PORT ${port} on ${host} is in use. Take another one, or a free one: PORT=0 npm start`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    throw new Error(`HOST ${host} is not an address of this machine.`);
  if (code === 'EACCES') throw new Error(`PORT ${port} cannot be used without more rights.`);
  throw error;
}

/** Stops taking requests, lets those in flight finish, and closes the storage. */
function stopOnSignal(app: FastifyInstance, dispatcher: Dispatcher, limiter: Limiter, db: Database): void {
  let isStopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (isStopping) return;
    isStopping = true;
    app.log.info(`stopping on ${signal}`);
    // After an answer that was under way its connection stays open for requests that nobody will accept.
    setInterval(() => app.server.closeIdleConnections(), 100).unref();
    setTimeout(() => app.server.closeAllConnections(), stopWithinMs).unref();
    await Promise.all([app.close(), dispatcher.stop()]);
    await limiter.close();
    await db.close();
    app.log.info('stopped');
    // A write to a terminal that stands still cannot be taken back, and keeps the process.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), lastWriteMs).unref();
  };
  process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', stop);
  if (process.env.npm_lifecycle_event) stopWithParent(() => stop('SIGTERM'));
}

/** npm runs scripts in a shell that ends on a signal without passing it on, and that outlives npm. */
function stopWithParent(stop: () => void): void {
  const started = ancestors();
  setInterval(() => {
    if (ancestors() !== started) stop();
  }, checkParentEveryMs).unref();
}

/** The parent and, on Linux, its parent. On macOS the shell is replaced by its one command. */
function ancestors(): string {
  try {
    return `${process.ppid} ${/^PPid:.*$/m.exec(readFileSync(`/proc/${process.ppid}/status`, 'utf8'))}`;
  } catch {
    return String(process.ppid);
  }
}
