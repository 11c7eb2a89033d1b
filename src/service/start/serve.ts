import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { LocalLimiter } from '../../access/limits/local-limiter.ts';
import { openMemory, openStorage } from '../../db/open.ts';
import { StorageUnavailableError } from '../../foundation/errors.ts';
import {
  type Config,
  type Environment,
  readConfig,
  unknownVariable,
} from '../../foundation/settings/config.ts';
import { aboutDataDir, earlierDataIn } from '../../foundation/settings/data-dir.ts';
import { installationKey } from '../../foundation/settings/secret-key.ts';
import { Announcement } from '../../foundation/settings/service-address.ts';
import { createLogger, type Log, prettyFor } from '../../observe/log/logger.ts';
import { LogOutput } from '../../observe/log/output.ts';
import { startTraces, type Traces } from '../../observe/traces.ts';
import { prepareDemo } from '../../store/demo/seed.ts';
import { beginIfMoved, newGeneration } from '../../store/workspaces/after-restore.ts';
import { buildApp } from '../app.ts';
import { explainListenError, onFreePort, type Service, startService } from '../service.ts';
import type { WorkspaceOptions } from './from-code/access.ts';
import { readyLine, welcomeText } from './welcome.ts';

const tryEveryMs = 500;
const reportEveryMs = 5_000;
/** The time limit for writing the last lines of the log. */
const lastWriteMs = 2_000;

interface ServeOptions {
  /** Whether standard output gets a line of JSON at the start, and then only the results of commands. */
  isForPrograms?: boolean;
  /** Keeps the data in memory, and stops at the end of standard input. The options are those of the workspace. */
  ephemeral?: WorkspaceOptions | undefined;
}

/** Opens the storage, sets up the demo workspace if it is on, and serves until a signal stops it. */
export async function serve(
  env: Environment,
  { isForPrograms = false, ephemeral }: ServeOptions = {},
): Promise<void> {
  const config = readConfig(env);
  allocateYoung();
  const store = ephemeral && (await (await import('./ephemeral.ts')).openEphemeral(config, ephemeral));
  const logStream = isForPrograms ? process.stderr : process.stdout;
  const output = new LogOutput(logStream.fd);
  process.on('exit', () => output.flush());
  const log = createLogger(config.logLevel, output, prettyFor(config.logFormat, logStream));
  output.onReadAgain = (dropped) =>
    log.warn({ dropped }, 'the log was not read for a while, so lines were dropped');
  if (config.signUp && config.trustProxy === false)
    log.warn(
      'PETSTORE_SIGNUP is open and TRUST_PROXY is off: behind a proxy all callers would share one address, and the accounts that it may create in a day',
    );
  for (const variable of config.unknownVariables) log.warn({ variable }, unknownVariable);
  const { demoKey, isMoved, ...parts } = store
    ? { ...store.parts, demoKey: store.key, isMoved: false }
    : await openPatiently(config, log, () => openKept(config));
  try {
    const earlierData = store ? undefined : earlierDataIn(env);
    if (earlierData) log.warn(earlierData);
    if (isMoved) log.warn(`the database comes from another folder, as after a restore: ${newGeneration}`);
    const traces = await startTraces(env, log);
    const unreadLines = () => output.dropped;
    // With PostgreSQL the data folder contains only the demo key.
    const usesDataDir = !store && (config.databaseUrl === undefined || config.demo);
    const announcement = usesDataDir ? new Announcement(config.dataDir) : undefined;
    const prove = announcement && ((challenge: unknown) => announcement.prove(challenge));
    const serveOn = async (port: number) => {
      const served = readConfig({ ...env, PORT: String(port) });
      return { served, service: await startService({ ...parts, config: served, log, unreadLines, prove }) };
    };
    const { service, served } =
      config.port === 0 ? await onFreePort(config.host, serveOn) : await serveOn(config.port);
    const control = store?.controlOf(service);
    if (announcement) announce(announcement, service, log);
    const stop = stopOnSignal(control ?? service, log, traces, announcement);
    const shown = { ...served, dataDir: store ? undefined : served.dataDir };
    const answers = isForPrograms ? new LogOutput(process.stdout.fd) : undefined;
    process.on('exit', () => answers?.flush());
    if (answers) answers.write(readyLine(shown, demoKey));
    else if (demoKey) output.write(welcomeText(shown, demoKey, process.stdout.isTTY === true));
    else if (config.port === 0) console.error(`petstore: The free port is ${served.port}.`);
    const answer = answers && ((line: string) => answers.write(line));
    if (control) store?.runStdinCommands(control, { answer, onEnd: () => stop('the end of standard input') });
  } catch (error) {
    await parts.db.close();
    throw error;
  }
}

/** Keeps objects of requests out of V8's old space, where they would stay until a collection of the whole heap. */
function allocateYoung(): void {
  // After a collection with many requests in flight, V8 would always allocate such objects in the old space. They keep alive what they refer to.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // A small pool for the bytes of bodies serves few requests. So it is free before V8 would move it to the old space.
  Buffer.poolSize = 8 * 1024;
}

/** Writes the address for commands. Starts even if the disk is full, because users can pass the address to a command. */
function announce(announcement: Announcement, { app }: Service, log: Log): void {
  try {
    announcement.announce(app.server.address() as AddressInfo);
  } catch (err) {
    log.warn({ err }, 'the address of this service could not be written, so commands need --url');
  }
}

/** Opens the configured storage. Creates the demo workspace and key if the demo is on. */
async function openKept(config: Config) {
  const key = installationKey(config);
  const db = await openStorage(config, { isService: true });
  try {
    const isMoved = await beginIfMoved(db, Date.now());
    const demoKey = config.demo ? await prepareDemo(db, config.dataDir, Date.now()) : undefined;
    return { db, key, demoKey, isMoved, clock: Date.now };
  } catch (error) {
    await db.close();
    throw config.databaseUrl === undefined ? aboutDataDir(config.dataDir, error) : error;
  }
}

/**
 * Opens the storage. While PostgreSQL cannot be reached, tries again for as long as the settings say. Meanwhile `/healthz` returns 200,
 * everything else 503, and a termination signal ends the process.
 */
async function openPatiently<T>(config: Config, log: Log, open: () => Promise<T>): Promise<T> {
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

/** Stops the service on the first termination signal. Returns a function that stops it for another reason. */
function stopOnSignal(
  service: Pick<Service, 'stop'> & Partial<Pick<Service, 'drain'>>,
  log: Log,
  traces?: Traces,
  announcement?: Announcement,
): (reason: string) => Promise<void> {
  let isStopping = false;
  const stop = async (reason: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info(`stopping on ${reason}`);
    announcement?.withdraw();
    // SIGTERM comes from a service manager, or replaces npm's. Ctrl+C is SIGINT: a person does not wait.
    if (reason === 'SIGTERM') await service.drain?.();
    await service.stop();
    const isSent = (await traces?.stop()) ?? true;
    log.info('stopped');
    if (!isSent) process.exit();
    // A write to a paused terminal cannot be cancelled, and would keep the process running.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), lastWriteMs).unref();
  };
  process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', stop);
  return stop;
}
