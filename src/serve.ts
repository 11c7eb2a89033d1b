import { readFileSync } from 'node:fs';
import { type Config, type Environment, readConfig, unknownVariable } from './config.ts';
import { prepareDemo } from './demo/prepare.ts';
import type { WorkspaceOptions } from './from-code/access.ts';
import { Control } from './from-code/control.ts';
import { obeyInput } from './from-code/obey.ts';
import { openStore, type Store } from './from-code/store.ts';
import { createLogger, type Log } from './log/logger.ts';
import { LogOutput } from './log/output.ts';
import { prettyFor } from './log/pretty.ts';
import { installationKey } from './secret-key.ts';
import { onFreePort, type Service, startService } from './service.ts';
import { ConfigError } from './setting.ts';
import { openStorage } from './storage.ts';
import { readyLine, welcome } from './welcome.ts';

const checkParentEveryMs = 250;
/** The last lines of the log get this long to be written. */
const lastWriteMs = 2_000;

interface ServeOptions {
  /** Whether standard output gets one line of JSON once it is ready, and nothing else but answers to standard input. */
  tellsPrograms?: boolean;
  /** Keeps nothing, and ends with its standard input. The options are those of its workspace. */
  ephemeral?: WorkspaceOptions | undefined;
}

/** Opens the storage, sets up the demonstration if it is on, and serves until a signal stops it. */
export async function serve(
  env: Environment,
  { tellsPrograms = false, ephemeral }: ServeOptions = {},
): Promise<void> {
  const config = readConfig(env);
  const store = ephemeral && (await openEphemeral(config, ephemeral));
  const { demoKey, ...parts } = store
    ? { ...store.parts, demoKey: store.access.key }
    : await openKept(config);
  try {
    const logStream = tellsPrograms ? process.stderr : process.stdout;
    const output = new LogOutput(logStream.fd);
    process.on('exit', () => output.flush());
    const log = createLogger(config.logLevel, output, prettyFor(config.logFormat, logStream));
    output.onReadAgain = (dropped) =>
      log.warn({ dropped }, 'nobody read the log for a while, so lines were dropped');
    for (const variable of config.unknownVariables) log.warn({ variable }, unknownVariable);
    const unreadLines = () => output.dropped;
    const serveOn = async (port: number) => {
      const served = readConfig({ ...env, PORT: String(port) });
      return { served, service: await startService({ ...parts, config: served, log, unreadLines }) };
    };
    const { service, served } =
      config.port === 0 ? await onFreePort(config.host, serveOn) : await serveOn(config.port);
    const control = store && new Control(store, service);
    const stop = stopOnSignal(control ?? service, log);
    const told = { ...served, dataDir: store ? undefined : served.dataDir };
    const answers = tellsPrograms ? new LogOutput(process.stdout.fd) : undefined;
    process.on('exit', () => answers?.flush());
    if (answers) answers.write(readyLine(told, demoKey));
    else if (demoKey) output.write(welcome(told, demoKey));
    else if (config.port === 0) console.error(`petstore: PORT 0 became ${served.port}.`);
    const answer = answers && ((line: string) => answers.write(line));
    if (control) obeyInput(control, { answer, ended: () => stop('the end of standard input') });
  } catch (error) {
    await parts.db.close();
    throw error;
  }
}

/** What is served where data is kept, with the key of the demonstration, if there is one. */
async function openKept(config: Config) {
  const key = installationKey(config);
  const db = await openStorage(config, { isService: true });
  try {
    const demoKey = config.demo ? await prepareDemo(db, config.dataDir, Date.now()) : undefined;
    return { db, key, demoKey, clock: Date.now };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** A store that keeps nothing. Throws ConfigError if a setting names a place where something would be kept, or allows no key. */
function openEphemeral({ databaseUrl, valkeyUrls, demo }: Config, options: WorkspaceOptions): Promise<Store> {
  const kept = databaseUrl !== undefined ? 'DATABASE_URL' : valkeyUrls.length > 0 ? 'VALKEY_URL' : undefined;
  if (kept) throw new ConfigError(`${kept} must be absent with --ephemeral, which keeps nothing.`);
  if (!demo) throw new ConfigError('PETSTORE_DEMO must be on with --ephemeral, which has no other key.');
  return openStore(options);
}

/** Stops the service on the first signal to end. Returns what stops it for another reason. */
function stopOnSignal(service: Pick<Service, 'stop'>, log: Log): (reason: string) => Promise<void> {
  let isStopping = false;
  const stop = async (reason: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info(`stopping on ${reason}`);
    await service.stop();
    log.info('stopped');
    // A write to a terminal that stands still cannot be taken back, and keeps the process.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), lastWriteMs).unref();
  };
  process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', stop);
  if (process.env.npm_lifecycle_event) stopWithParent(() => stop('SIGTERM'));
  return stop;
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
