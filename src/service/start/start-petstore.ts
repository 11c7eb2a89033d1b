import { isIPv6 } from 'node:net';
import { readConfig } from '../../foundation/settings/config.ts';
import { ConfigError } from '../../foundation/settings/setting.ts';
import { createLogger } from '../../observe/log/logger.ts';
import { onFreePort, PortInUseError, type Service, startService } from '../service.ts';
import {
  type Access,
  addWorkspace,
  assertQuota,
  type WorkspaceOptions,
  workspaceRules,
} from './from-code/access.ts';
import { anything, assertOptions, flag, nonEmptyText, type Rule } from './from-code/check-options.ts';
import { type Clock, isInstant, lastMs, realNow } from './from-code/clock.ts';
import { Control } from './from-code/control.ts';
import {
  type FaultPlan,
  labOf,
  type Recording,
  type RecordOptions,
  type Rehearsal,
  type RehearseOptions,
  record,
  rehearse,
} from './from-code/lab.ts';
import { openStore, type Store } from './from-code/store.ts';

export interface StartOptions extends WorkspaceOptions {
  /** Port of 127.0.0.1 to listen on. Default: 0, which picks a free one. */
  port?: number;
  /** Folder for the data, for one store at a time. Default: the data is in memory. */
  dataDir?: string;
  /** `real` (default): time passes and can be moved ahead. `manual` or a Date: stopped now or at that time, until it is moved. */
  clock?: 'real' | 'manual' | Date;
  /** Whether there is a lab, which `rehearse` and `record` need. Default: true. */
  lab?: boolean;
  /** Whether deprecated operations return 410 after their sunset. Default: false. */
  enforceSunset?: boolean;
}

/** A store that runs in this process. */
export interface PetstoreServer extends Access, AsyncDisposable {
  /** The address of the API. It ends in `/v1`. */
  readonly baseUrl: string;
  /** The name of the first workspace. */
  readonly workspace: string;
  /** A key to the first workspace. */
  readonly key: string;
  readonly clock: Clock;
  /** Creates another workspace and a key to it. Rejects if the name is taken, and with TypeError if the name or an option is invalid. */
  addWorkspace(name: string, options?: WorkspaceOptions): Promise<Access>;
  /**
   * Resets the store within milliseconds. Content, events, ids and clock are as at the start. Webhooks, rehearsals,
   * recordings, idempotency keys, used limits and bans are removed. Address and key stay. Other workspaces are deleted, open streams end,
   * and requests from before the reset have no effect. With `dataDir`, earlier data of the folder is deleted, too.
   */
  reset(): Promise<void>;
  /** Performs faults on requests of a key. Rejects with a message that names the mistake, with TypeError if it is in an option. */
  rehearse(faults: readonly FaultPlan[], options?: RehearseOptions): Promise<Rehearsal>;
  /** Records the requests of a key, and judges its client. Rejects as `rehearse` does. */
  record(options?: RecordOptions): Promise<Recording>;
  /** Stops the store, also again. Work in flight gets two seconds. No port, file or timer is left. Other calls then reject. */
  stop(): Promise<void>;
}

/** Starts a store that listens on an address of this machine. */
export async function startPetstoreOn(
  host = '127.0.0.1',
  options: StartOptions = {},
): Promise<PetstoreServer> {
  assertOptions(options, startRules);
  assertQuota(options);
  const { port = 0, dataDir, clock, enforceSunset = false, lab = true, ...access } = options;
  const store = await openStore({ ...access, dataDir, startMs: startOf(clock) }).catch(refuse);
  const log = createLogger('silent', { write() {} });
  const serveOn = async (port: number) => {
    const config = readConfig({
      ...{ HOST: host, PORT: String(port) },
      // Not localhost: some clients try its IPv6 address first, where another program may listen.
      PETSTORE_BASE_URL: `http://${isIPv6(host) ? `[${host}]` : host}:${port}/v1`,
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
    throw new Error(`Port ${port} of ${host} is in use. Leave out port to use a free one.`, { cause: error });
  }
}

/** Names the option `dataDir` in the message, instead of the variable of the service. */
function refuse(error: Error): never {
  if (!(error instanceof ConfigError)) throw error;
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
  const askLab = (key = access.key) => labOf(control, service.app, key);
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
      return rehearse(askLab(options.key), faults, options.expiresInSeconds);
    },
    async record(options = {}) {
      assertLab();
      assertOptions(options, recordRules);
      const { key, ...rest } = options;
      return record(askLab(key), rest);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The time of a stopped clock, in milliseconds since 1970. Undefined if time passes. */
function startOf(clock: StartOptions['clock']): number | undefined {
  if (clock === 'manual') return realNow();
  return clock === 'real' ? undefined : clock?.getTime();
}

const port: Rule = {
  fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
  must: 'an integer from 0 to 65535',
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
  dataDir: { ...nonEmptyText, must: 'the path of a folder' },
};
const rehearseRules = { expiresInSeconds: anything, key: nonEmptyText };
const recordRules = { ...rehearseRules, name: anything };
