import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type BanRules, defaultBanRules } from './limits/decision.ts';

/** Everything that can be set from outside, read once at the start. */
export interface Config {
  port: number;
  host: string;
  dataDir: string;
  /** Where PostgreSQL is, with its password. Undefined: SQLite in `dataDir`. */
  databaseUrl: string | undefined;
  /** Where callers find the API, without a slash at the end: it ends in `/v1`. */
  baseUrl: string;
  /** Whether the start sets up the demonstration: a seeded workspace and a key to it. */
  demo: boolean;
  /** Proxies whose X-Forwarded-For is believed: addresses, networks and names of networks. False: none. */
  trustProxy: string[] | boolean;
  banRules: BanRules;
  /** Whether deprecated operations end at their sunset. */
  enforceSunset: boolean;
  /** Where limits are shared: one server, or nodes of one cluster. None: limits are of this process alone. */
  valkeyUrls: string[];
  /** How long a request waits for Valkey. */
  valkeyTimeoutMs: number;
  logLevel: LogLevel;
  /** Variables that look like ours and set nothing. */
  unknownVariables: string[];
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A value that cannot be used; its message is one line that names the variable. */
export class ConfigError extends Error {}

type Environment = Record<string, string | undefined>;
/** The text of a variable, or the fallback where it is absent or empty. */
type Read = (name: string, fallback: string) => string;

/** What to say of an unknown variable. */
export const unknownVariable = 'no setting has this name; "petstore serve --help" tells them';

/** The configuration from environment variables; an empty variable counts as absent. Throws ConfigError. */
export function readConfig(env: Environment): Readonly<Config> {
  const known = new Set<string>();
  const read: Read = (name, fallback) => {
    known.add(name);
    return env[name]?.trim() || fallback;
  };
  const port = readPort(read('PORT', '8080'));
  const config = {
    port,
    host: read('HOST', '127.0.0.1'),
    dataDir: read('PETSTORE_DATA_DIR', './data'),
    databaseUrl: readDatabaseUrl(read('DATABASE_URL', '')),
    baseUrl: readBaseUrl(read('PETSTORE_BASE_URL', `http://localhost:${port}/v1`)),
    demo: readSwitch(read, 'PETSTORE_DEMO', 'on'),
    trustProxy: readTrustProxy(read('TRUST_PROXY', 'off')),
    banRules: {
      strikesFactor: readNumber(read, 'PETSTORE_BAN_STRIKES_FACTOR', defaultBanRules.strikesFactor, 0),
      firstMs: readNumber(read, 'PETSTORE_BAN_FIRST_SECONDS', defaultBanRules.firstMs / 1000, 1) * 1000,
      longestMs: readNumber(read, 'PETSTORE_BAN_LONGEST_SECONDS', defaultBanRules.longestMs / 1000, 1) * 1000,
      growth: readNumber(read, 'PETSTORE_BAN_GROWTH', defaultBanRules.growth, 1),
      memoryMs:
        readNumber(read, 'PETSTORE_BAN_MEMORY_HOURS', defaultBanRules.memoryMs / 3_600_000, 0) * 3_600_000,
    },
    enforceSunset: readSwitch(read, 'PETSTORE_ENFORCE_SUNSET', 'off'),
    valkeyUrls: readValkeyUrls(read('VALKEY_URL', '')),
    valkeyTimeoutMs: readNumber(read, 'VALKEY_TIMEOUT_MS', 100, 1),
    logLevel: readChoice('LOG_LEVEL', read('LOG_LEVEL', 'info'), logLevels),
  };
  const unknownVariables = Object.keys(env).filter(
    (name) => name.startsWith('PETSTORE_') && !known.has(name),
  );
  return Object.freeze({ ...config, unknownVariables });
}

/** The address may hold a password, so a wrong one is not repeated. */
function readDatabaseUrl(text: string): string | undefined {
  if (text === '') return undefined;
  const { protocol } = URL.canParse(text) ? new URL(text) : {};
  if (protocol === 'postgres:' || protocol === 'postgresql:') return text;
  throw new ConfigError(
    'DATABASE_URL must be an address such as postgres://user:password@localhost:5432/petstore, or absent for SQLite.',
  );
}

/** Addresses with a comma between them. The message does not repeat them, since they may hold a password. */
function readValkeyUrls(text: string): string[] {
  const urls = text === '' ? [] : text.split(',').map((url) => url.trim());
  if (!urls.every(isValkeyUrl)) {
    throw new ConfigError(
      'VALKEY_URL must be redis://[user:password@]host[:port][/database], or rediss:// for TLS, or several nodes of a cluster with a comma between them.',
    );
  }
  return urls;
}

function isValkeyUrl(text: string): boolean {
  try {
    const { protocol, username, password, hostname, pathname, search, hash } = new URL(text);
    decodeURIComponent(username + password);
    return /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d*)?$/.test(pathname) && !search && !hash;
  } catch {
    return false;
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535) {
    throw new ConfigError(`PORT must be a number from 1 to 65535, not ${JSON.stringify(text)}.`);
  }
  return port;
}

/** A wrong address may hold a password, so it is not repeated. */
function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isApiAddress = /^https?:$/.test(url?.protocol ?? '') && /\/v1\/?$/.test(url?.pathname ?? '');
  if (!url || !isApiAddress || url.search || url.hash || url.username || url.password) {
    throw new ConfigError(
      'PETSTORE_BASE_URL must be an http or https address that ends in /v1, without user, password, query and fragment.',
    );
  }
  return url.href.replace(/\/$/, '');
}

/** `off`, `on` for every proxy, or a list of those that are trusted. */
function readTrustProxy(text: string): string[] | boolean {
  if (text === 'off' || text === 'on') return text === 'on';
  const proxies = text.split(',').map((proxy) => proxy.trim());
  const wrong = proxies.find((proxy) => !networkNames.includes(proxy) && !isNetwork(proxy));
  if (wrong !== undefined) {
    throw new ConfigError(
      `TRUST_PROXY must be off, on, or a list of addresses, networks (10.0.0.0/8) and ${networkNames.join(', ')}, not ${JSON.stringify(text)}.`,
    );
  }
  return proxies;
}

const networkNames = ['loopback', 'linklocal', 'uniquelocal'];

const isNetwork = (text: string) =>
  isIP(text) !== 0 || (isIP(text.split('/')[0] as string) !== 0 && ipaddr.isValidCIDR(text));

function readNumber(read: Read, name: string, fallback: number, min: number): number {
  const text = read(name, String(fallback));
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < min || value > 1e9) {
    throw new ConfigError(`${name} must be a number from ${min}, not ${JSON.stringify(text)}.`);
  }
  return value;
}

function readSwitch(read: Read, name: string, fallback: 'on' | 'off') {
  return readChoice(name, read(name, fallback), ['on', 'off']) === 'on';
}

function readChoice<Choice extends string>(name: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((choice) => choice === text);
  if (!choice)
    throw new ConfigError(`${name} must be one of ${choices.join(', ')}, not ${JSON.stringify(text)}.`);
  return choice;
}
