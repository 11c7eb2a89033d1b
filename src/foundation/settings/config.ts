import { dayMs, secondMs } from '../time.ts';
import { openPlanNames } from './plans.ts';
import {
  anyText,
  apiAddress,
  ConfigError,
  databaseUrl,
  hostOfUrl,
  line,
  listenAddress,
  networkNames,
  number,
  oneOf,
  onOrOff,
  openPlans,
  port,
  proxies,
  type Setting,
  scaled,
  secret,
  valkeyUrls,
} from './setting.ts';

const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof logLevels)[number];

const logFormats = ['auto', 'json', 'pretty'] as const;
export type LogFormat = (typeof logFormats)[number];

const quoted = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

/** All settings, in the order of the help of `serve` and docs/configuration.md. */
export const settings = {
  port: {
    variable: 'PORT',
    default: '8080',
    meaning: 'port to listen on; `0` picks a free one, which the start prints',
    read: port,
  },
  host: {
    variable: 'HOST',
    default: '127.0.0.1',
    meaning: 'address to listen on; `localhost` is `127.0.0.1`',
    read: listenAddress,
    inDefault: hostOfUrl,
  },
  databaseUrl: {
    variable: 'DATABASE_URL',
    default: '',
    meaning: '`postgres://user:password@host:port/database` to use PostgreSQL instead of SQLite',
    read: databaseUrl,
  },
  startWaitMs: {
    variable: 'PETSTORE_START_WAIT',
    default: '60',
    meaning: 'how many seconds a start waits for PostgreSQL while it cannot be reached',
    read: scaled(number(0), secondMs),
  },
  dataDir: {
    variable: 'PETSTORE_DATA_DIR',
    default: './petstore-data',
    meaning: 'folder of the SQLite database, `demo.key` and `secret.key`',
    read: anyText,
  },
  secretKey: {
    variable: 'PETSTORE_SECRET_KEY',
    default: '',
    meaning:
      'at least 32 random characters, the same for all instances; webhook secrets are derived from it. By default the service creates one and stores it in `secret.key` in the data folder',
    read: secret(32),
  },
  baseUrl: {
    variable: 'PETSTORE_BASE_URL',
    default: 'http://{HOST}:{PORT}/v1',
    meaning:
      'public address of the API; ends in `/v1`. The default has `localhost` if `HOST` is `127.0.0.1`, or `0.0.0.0` or `::` (all addresses)',
    read: apiAddress,
  },
  demo: {
    variable: 'PETSTORE_DEMO',
    default: 'on',
    meaning: '`on` creates the workspace `demo` with data and an API key; `off` creates neither',
    read: onOrOff,
  },
  lab: {
    variable: 'PETSTORE_LAB',
    default: '{PETSTORE_DEMO}',
    meaning: '`on`: keys can rehearse faults and record their requests, below `/lab`',
    read: onOrOff,
  },
  /** Whether anybody may create a workspace and a key. */
  signUp: {
    variable: 'PETSTORE_SIGNUP',
    default: 'off',
    meaning:
      '`open`: anybody may create a workspace and a key without an invite, within bounds; `off`: nobody. Set `PETSTORE_BASE_URL`, too: at another host name than its own the page `/join` is refused',
    read: (text, variable) => oneOf(['off', 'open'])(text, variable) === 'open',
  },
  signUpsPerDay: {
    variable: 'PETSTORE_SIGNUP_PER_DAY',
    default: '5',
    meaning: 'how many keys an address may create by open sign-up in a day (UTC)',
    read: number(1),
  },
  maxSignUps: {
    variable: 'PETSTORE_SIGNUP_ACCOUNTS',
    default: '1000',
    meaning: 'maximum number of workspaces by open sign-up; an idle one makes room for a new one',
    read: number(1),
  },
  /** Undefined: the defaults for each kind of key. */
  upgrades: {
    variable: 'PETSTORE_UPGRADES',
    default: '',
    shown: 'free,pro',
    meaning: `plans to which the demo key and keys of open sign-up may change themselves: a list of ${quoted(openPlanNames)}, or \`none\`. Keys of open sign-up can always return to \`free\`. By default the demo key may change to each of these`,
    read: openPlans,
  },
  contact: {
    variable: 'PETSTORE_CONTACT',
    default: '',
    meaning: 'whom users can ask for a plan, as text in messages: for example an email address',
    read: line(200),
  },
  /** Proxies whose X-Forwarded-For is trusted: addresses, networks and names of networks. False: none. True: all. */
  trustProxy: {
    variable: 'TRUST_PROXY',
    default: 'off',
    meaning: `proxies whose \`X-Forwarded-For\` is trusted: \`off\` (none), \`on\` (all), or a list of addresses, networks such as \`10.0.0.0/8\`, and ${quoted(networkNames)}`,
    read: proxies,
  },
  /** One server, nodes of one cluster, or Sentinels of one master. Empty: limits are local to this process. */
  valkeyUrls: {
    variable: 'VALKEY_URL',
    default: '',
    meaning:
      'Valkey or Redis through which instances share limits: `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. A cluster is recognized; separate several nodes by commas. Sentinels: `redis+sentinel://host[:port],…/name[/database]`, where `name` is the name of the master',
    read: valkeyUrls,
  },
  valkeyTimeoutMs: {
    variable: 'VALKEY_TIMEOUT_MS',
    default: '100',
    meaning: 'maximum time that a request waits for Valkey, in milliseconds',
    read: number(1),
  },
  hasDraftLimits: {
    variable: 'PETSTORE_DRAFT_HEADERS',
    default: 'on',
    meaning:
      '`off`: responses have only `X-RateLimit-*`, not `RateLimit` and `RateLimit-Policy` of the IETF draft',
    read: onOrOff,
  },
  enforceSunset: {
    variable: 'PETSTORE_ENFORCE_SUNSET',
    default: 'off',
    meaning: '`on`: deprecated operations return 410 after their sunset',
    read: onOrOff,
  },
  maxEventAgeMs: {
    variable: 'PETSTORE_EVENTS_DAYS',
    default: '7',
    meaning: 'how many days events are stored',
    read: scaled(number(0.001), dayMs),
  },
  maxEventCount: {
    variable: 'PETSTORE_EVENTS_COUNT',
    default: '100000',
    meaning:
      'maximum number of stored events for each workspace; the oldest are removed first. Up to twice as many are stored while an enabled webhook has not received them yet',
    read: number(1),
  },
  logLevel: {
    variable: 'LOG_LEVEL',
    default: 'info',
    meaning: `log level, from least to most: ${quoted(logLevels)}`,
    read: oneOf(logLevels),
  },
  logFormat: {
    variable: 'LOG_FORMAT',
    default: 'auto',
    meaning: 'log format: `json`, `pretty` for people, or `auto`: `pretty` at a terminal, otherwise `json`',
    read: oneOf(logFormats),
  },
} satisfies Record<string, Setting<unknown>>;

/** The values of all settings, read once at the start. */
export type Config = {
  readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['read']>;
} & {
  /** Variables that begin with PETSTORE_ but are not settings. */
  readonly unknownVariables: readonly string[];
};

const all: readonly Setting<unknown>[] = Object.values(settings);

export type Environment = Record<string, string | undefined>;

/** The variable from which clients, such as the code samples, read their key. The service ignores it. */
export const clientKeyVariable = 'PETSTORE_API_KEY';

/** The variable with the task that "grade --goal" gives to an agent. The service ignores it. */
export const goalVariable = 'PETSTORE_GOAL';

/** The warning about an unknown variable. */
export const unknownVariable =
  'there is no setting with this name; "petstore serve --help" lists all settings';

/** Reads the configuration from environment variables. An empty variable counts as absent. Throws ConfigError. */
export function readConfig(env: Environment): Config {
  const unknownVariables = Object.keys(env).filter(
    (name) =>
      name.startsWith('PETSTORE_') &&
      name !== clientKeyVariable &&
      name !== goalVariable &&
      !all.some(({ variable }) => variable === name),
  );
  const values = Object.entries(settings).map(([name, setting]) => [
    name,
    setting.read(textOf(setting, env), setting.variable),
  ]);
  return Object.freeze({ ...Object.fromEntries(values), unknownVariables });
}

function textOf(setting: Setting<unknown>, env: Environment): string {
  return (
    env[setting.variable]?.trim() ||
    defaultOf(setting, (other) => {
      const text = textOf(other, env);
      return other.inDefault?.(text) ?? text;
    })
  );
}

/** The default. `fill` replaces each variable in braces. */
function defaultOf(setting: Setting<unknown>, fill: (other: Setting<unknown>) => string): string {
  return setting.default.replaceAll(/{(\w+)}/g, (_, name) =>
    fill(all.find(({ variable }) => variable === name) as Setting<unknown>),
  );
}

/** The default as documented, with the names of the variables that it depends on. */
export const shownDefault = (setting: Setting<unknown>) =>
  setting.shown ?? (defaultOf(setting, ({ variable }) => variable) || 'none');

const ofTraces = 'OTEL_EXPORTER_OTLP_TRACES_';
const ofAll = 'OTEL_EXPORTER_OTLP_';

/** Whether the variables of OpenTelemetry ask for traces. Throws ConfigError for an exporter or protocol that is not supported. */
export function tracesAreOn(env: Environment): boolean {
  const read = (name: string) => env[name]?.trim() ?? '';
  const exporter = read('OTEL_TRACES_EXPORTER');
  const hasAddress = read(`${ofTraces}ENDPOINT`) !== '' || read(`${ofAll}ENDPOINT`) !== '';
  if (read('OTEL_SDK_DISABLED').toLowerCase() === 'true' || exporter === 'none') return false;
  if (exporter === '' && !hasAddress) return false;
  if (exporter !== '' && exporter !== 'otlp')
    throw new ConfigError(`OTEL_TRACES_EXPORTER must be otlp or none, not ${JSON.stringify(exporter)}.`);
  const variable = read(`${ofTraces}PROTOCOL`) ? `${ofTraces}PROTOCOL` : `${ofAll}PROTOCOL`;
  const protocol = read(variable);
  if (protocol !== '' && protocol !== 'http/json')
    throw new ConfigError(
      `${variable} must be http/json or absent, not ${JSON.stringify(protocol)}. OTEL_TRACES_EXPORTER=none turns traces off.`,
    );
  return true;
}
