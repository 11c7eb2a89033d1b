import { readConfig } from './config.ts';
import { StorageUnavailableError } from './errors.ts';
import {
  type Access,
  addWorkspace,
  assertQuota,
  type WorkspaceOptions,
  workspaceRules,
} from './from-code/access.ts';
import { type Clock, isInstant, lastMs, realNow } from './from-code/clock.ts';
import { Control } from './from-code/control.ts';
import {
  type App,
  type FaultPlan,
  type Recording,
  type RecordOptions,
  type Rehearsal,
  type RehearseOptions,
  record,
  rehearse,
} from './from-code/lab.ts';
import { anything, assertOptions, flag, type Rule, text } from './from-code/options.ts';
import { openStore, type Store } from './from-code/store.ts';
import { createLogger } from './log/logger.ts';
import { onFreePort, PortInUseError, type Service, startService } from './service.ts';

export interface StartOptions extends WorkspaceOptions {
  /** Port to listen on, on 127.0.0.1; 0, the default, picks a free one. */
  port?: number;
  /** Folder that keeps the data, for one store at a time. Without it everything is in memory, and nothing is left behind. */
  dataDir?: string;
  /**
   * `real`, the default: time passes, and can be moved ahead. `manual`: it stands still until it is moved, from now or from a Date on.
   */
  clock?: 'real' | 'manual' | Date;
  /** Whether there is a lab, which `rehearse` and `record` need; there is one by default. */
  lab?: boolean;
  /** Whether deprecated operations answer 410 from their sunset on; not by default. */
  enforceSunset?: boolean;
}

/** A store that runs in this process. */
export interface PetstoreServer extends Access, AsyncDisposable {
  /** Where the API is; it ends in `/v1`. */
  readonly baseUrl: string;
  /** The name of the first workspace. */
  readonly workspace: string;
  /** A key to the first workspace, of the plan that was asked for. */
  readonly key: string;
  readonly clock: Clock;
  /** Makes a further workspace and a key to it. Rejects if there is one with this name, and with TypeError if name or options cannot be used. */
  addWorkspace(name: string, options?: WorkspaceOptions): Promise<Access>;
  /**
   * Takes the store back to its start, in milliseconds: the content and the events that it began with, ids from 1, no webhooks,
   * rehearsals, recordings and idempotency keys, unused limits, no bans, the clock as at the start. Address and key stay. Further
   * workspaces are gone, open streams end, and what a request from before still does has no effect. With `dataDir`, what was in the
   * folder goes, too.
   */
  reset(): Promise<void>;
  /** Performs faults for requests of a key. Rejects with a message that names what does not fit, TypeError if it is an option. */
  rehearse(faults: readonly FaultPlan[], options?: RehearseOptions): Promise<Rehearsal>;
  /** Keeps what the client of a key sends, and judges it. Rejects as `rehearse` does. */
  record(options?: RecordOptions): Promise<Recording>;
  /**
   * Ends the store: requests under way, resets and time that is being moved get two seconds, and no port, file or timer is left. May be
   * called again. After it all else rejects.
   */
  stop(): Promise<void>;
}

const host = '127.0.0.1';

/**
 * Starts a store in this process, which listens when the promise resolves. It prints nothing, listens to no signal, and goes by no
 * environment variable; any number may run in one process. Rejects with TypeError if an option is unknown or cannot be used, and with an Error that
 * says so if the port or the data folder is in use.
 */
export async function startPetstore(options: StartOptions = {}): Promise<PetstoreServer> {
  assertOptions(options, startRules);
  assertQuota(options);
  const { port = 0, dataDir, clock, enforceSunset = false, lab = true, ...access } = options;
  const store = await openStore({ ...access, dataDir, startMs: startOf(clock) }).catch(refuse);
  const log = createLogger('silent', { write() {} });
  const serveOn = async (port: number) => {
    const config = readConfig({
      PORT: String(port),
      // Not localhost, which some clients look for at an IPv6 address first, where another program may listen.
      PETSTORE_BASE_URL: `http://${host}:${port}/v1`,
      PETSTORE_LAB: onOff(lab),
      PETSTORE_ENFORCE_SUNSET: onOff(enforceSunset),
    });
    return { service: await startService({ ...store.parts, config, log }), baseUrl: config.baseUrl };
  };
  try {
    const { service, baseUrl } = port === 0 ? await onFreePort(host, serveOn) : await serveOn(port);
    return serverOf(store, service, { baseUrl, hasLab: lab });
  } catch (error) {
    await store.db.close();
    if (!(error instanceof PortInUseError)) throw error;
    throw new Error(`Port ${port} of ${host} is in use. Without port a free one is taken.`, { cause: error });
  }
}

/** Names the option instead of the variable of the service. */
function refuse(error: Error): never {
  if (!(error instanceof StorageUnavailableError)) throw error;
  throw new Error(error.message.replace('PETSTORE_DATA_DIR', 'dataDir'), { cause: error });
}

const onOff = (isOn: boolean) => (isOn ? 'on' : 'off');

function serverOf(
  store: Store,
  service: Service,
  { baseUrl, hasLab }: { baseUrl: string; hasLab: boolean },
): PetstoreServer {
  const { db, access } = store;
  const control = new Control(store, service);
  const { clock } = control;
  const assertLab = () => {
    control.assertRunning();
    if (!hasLab) throw new Error('This store has no lab: it was started with lab: false.');
  };
  const lab: App = {
    inject(request) {
      control.assertRunning();
      return service.app.inject(request);
    },
  };
  const stop = () => control.stop();
  return {
    ...access,
    ...{ baseUrl, clock },
    async addWorkspace(name, options) {
      control.assertRunning();
      return addWorkspace(db, name, clock.now(), options);
    },
    reset: () => control.reset(),
    async rehearse(faults, options = {}) {
      assertLab();
      assertOptions(options, rehearseRules);
      const { key = access.key, ...rest } = options;
      return rehearse(lab, faults, { key, ...rest });
    },
    async record(options = {}) {
      assertLab();
      assertOptions(options, recordRules);
      const { key = access.key, ...rest } = options;
      return record(lab, { key, ...rest });
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** When a clock stands still that does; undefined if it passes. */
function startOf(clock: StartOptions['clock']): number | undefined {
  if (clock === 'manual') return realNow();
  return clock === 'real' ? undefined : clock?.getTime();
}

const port: Rule = {
  fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
  must: 'a whole number from 0 to 65535',
};
const clock: Rule = {
  fits: (value) =>
    isInstant(value)
      ? value.getTime() >= 0 && value.getTime() <= lastMs
      : value === 'real' || value === 'manual',
  must: `'real', 'manual' or a Date from 1970 to ${new Date(lastMs).toISOString()}`,
};
const startRules = {
  ...workspaceRules,
  ...{ port, clock, lab: flag, enforceSunset: flag },
  dataDir: { ...text, must: 'the path of a folder' },
};
const rehearseRules = { expiresInSeconds: anything, key: text };
const recordRules = { ...rehearseRules, name: anything };
