import { readFileSync } from 'node:fs';
import { type Config, readConfig, unknownVariable } from './config.ts';
import { prepareDemo } from './demo/prepare.ts';
import { createLogger, type Log } from './log/logger.ts';
import { LogOutput } from './log/output.ts';
import { prettyFor } from './log/pretty.ts';
import { installationKey } from './secret-key.ts';
import { freePort, type Service, startService } from './service.ts';
import { openStorage } from './storage.ts';
import { readyLine, welcome } from './welcome.ts';

const checkParentEveryMs = 250;
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
    const served = await withPort(config);
    const unreadLines = () => output.dropped;
    const service = await startService({ config: served, db, key, log, clock: Date.now, unreadLines });
    stopOnSignal(service, log);
    if (tellsPrograms) new LogOutput(process.stdout.fd).write(readyLine(served, demoKey));
    else if (demoKey) output.write(welcome(served, demoKey));
    else if (config.port === 0) console.error(`petstore: PORT 0 became ${served.port}.`);
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** The configuration with a free port instead of 0. */
async function withPort(config: Config): Promise<Config> {
  if (config.port !== 0) return config;
  return readConfig({ ...process.env, PORT: String(await freePort(config.host)) });
}

/** Stops the service on the first signal to end. */
function stopOnSignal(service: Service, log: Log): void {
  let isStopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (isStopping) return;
    isStopping = true;
    log.info(`stopping on ${signal}`);
    await service.stop();
    log.info('stopped');
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
