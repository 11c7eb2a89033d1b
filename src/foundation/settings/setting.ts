import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type OpenPlan, openPlanNames } from './plans.ts';
import { parseValkeyUrl, splitValkeyUrls } from './valkey-url.ts';

/** A setting, read from an environment variable. */
export interface Setting<Value> {
  variable: string;
  /** The text to use if the variable is absent or empty. `{PORT}` in it is replaced by the text of that variable. */
  default: string;
  /** What the help and the docs show as the default, if that is empty. */
  shown?: string;
  /** For the help and the docs, with literal values in backquotes. */
  meaning: string;
  read: SettingReader<Value>;
  /** Converts the text for the default of another setting. */
  inDefault?: (text: string) => string;
}

/** Reads a value. Throws ConfigError that names the variable and repeats no text that may contain a secret. */
type SettingReader<Value> = (text: string, variable: string) => Value;

/** A value that cannot be used. The message is one line that names the variable. */
export class ConfigError extends Error {}

export const anyText: SettingReader<string> = (text) => text;

/** One line of at most `max` characters. */
export const line =
  (max: number): SettingReader<string> =>
  (text, variable) => {
    if (text.length <= max && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) return text;
    throw new ConfigError(`${variable} must be one line of at most ${max} characters.`);
  };

/** An address to listen on. For `localhost` Fastify would open a second server, without our bounds. */
export const listenAddress: SettingReader<string> = (text) => (text === 'localhost' ? '127.0.0.1' : text);

/** A secret of at least `minLength` characters. No message repeats it. Undefined: none. */
export const secret =
  (minLength: number): SettingReader<string | undefined> =>
  (text, variable) => {
    if (text === '') return undefined;
    if (text.length < minLength)
      throw new ConfigError(`${variable} must have at least ${minLength} characters.`);
    return text;
  };

/** A number of at least `min`. */
export const number =
  (min: number): SettingReader<number> =>
  (text, variable) => {
    const value = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || value < min || value > 1e9) {
      throw new ConfigError(`${variable} must be a number of at least ${min}, not ${JSON.stringify(text)}.`);
    }
    return value;
  };

/** A list of plans to which keys may change themselves, or `none`. Undefined: not set. */
export const openPlans: SettingReader<readonly OpenPlan[] | undefined> = (text, variable) => {
  const names = new Set(text.split(',').map((name) => name.trim()));
  const plans = openPlanNames.filter((plan) => names.has(plan));
  if (plans.length === names.size || text === 'none') return plans;
  if (text === '') return undefined;
  throw new ConfigError(
    `${variable} must be none, or a list of ${openPlanNames.join(', ')}, not ${JSON.stringify(text)}.`,
  );
};

/** A number in another unit: the number that is read, times `factor`. */
export const scaled =
  (read: SettingReader<number>, factor: number): SettingReader<number> =>
  (text, variable) =>
    read(text, variable) * factor;

export const oneOf =
  <Choice extends string>(choices: readonly Choice[]): SettingReader<Choice> =>
  (text, variable) => {
    const choice = choices.find((choice) => choice === text);
    if (!choice) {
      throw new ConfigError(`${variable} must be one of ${choices.join(', ')}, not ${JSON.stringify(text)}.`);
    }
    return choice;
  };

const either = oneOf(['on', 'off']);

export const onOrOff: SettingReader<boolean> = (text, variable) => either(text, variable) === 'on';

export const port: SettingReader<number> = (text, variable) => {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new ConfigError(`${variable} must be a number from 0 to 65535, not ${JSON.stringify(text)}.`);
  }
  return port;
};

/** The address of PostgreSQL. It may contain a password, so no message repeats it. Undefined: none. */
export const databaseUrl: SettingReader<string | undefined> = (text, variable) => {
  if (text === '') return undefined;
  if (severalHosts.test(text)) {
    throw new ConfigError(`${variable} must name one host, which must always resolve to the primary server.`);
  }
  const { protocol } = URL.canParse(text) ? new URL(text) : {};
  if (protocol === 'postgres:' || protocol === 'postgresql:') return text;
  throw new ConfigError(
    `${variable} must be an address such as postgres://user:password@localhost:5432/petstore, or absent for SQLite.`,
  );
};

/** Several hosts as libpq accepts them: before the path or in the query. */
const severalHosts = /^\w+:\/\/([^/?]*@)?[^@/?]*,[^@/?]*([/?]|$)|[?&]host=[^&]*(,|%2C)/i;

/** Addresses of one kind. They may contain a password, so no message repeats them. */
export const valkeyUrls: SettingReader<string[]> = (text, variable) => {
  const urls = text === '' ? [] : splitValkeyUrls(text);
  if (!urls.every(isValkeyUrl) || new Set(urls.map((url) => new URL(url).protocol)).size > 1) {
    throw new ConfigError(
      `${variable} must be redis://[user:password@]host[:port][/database], or rediss:// for TLS, or several nodes of a cluster, separated by commas, or redis+sentinel://[user:password@]host[:port],…/name[/database].`,
    );
  }
  return urls;
};

function isValkeyUrl(text: string): boolean {
  try {
    parseValkeyUrl(text);
    return true;
  } catch {
    return false;
  }
}

/** The host in local URLs of a service that listens on an address. */
export function hostOfUrl(address: string): string {
  const host = isIP(address) === 6 ? `[${address}]` : address;
  return ['127.0.0.1', '0.0.0.0', '[::]'].includes(host) || !URL.canParse(`http://${host}`)
    ? 'localhost'
    : host;
}

/** The address of the API, without a slash at the end. It may contain a password, so no message repeats it. */
export const apiAddress: SettingReader<string> = (text, variable) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isApiAddress = /^https?:$/.test(url?.protocol ?? '') && /\/v1\/?$/.test(url?.pathname ?? '');
  if (!url || !isApiAddress || url.search || url.hash || url.username || url.password) {
    throw new ConfigError(
      `${variable} must be an http or https address that ends in /v1, without user, password, query and fragment.`,
    );
  }
  return url.href.replace(/\/$/, '');
};

/** Names of well-known networks. */
export const networkNames = ['loopback', 'linklocal', 'uniquelocal'];

/** Addresses, networks and names of networks. True: every proxy is trusted. False: none. */
export const proxies: SettingReader<string[] | boolean> = (text, variable) => {
  if (text === 'off' || text === 'on') return text === 'on';
  const proxies = text.split(',').map((proxy) => proxy.trim());
  if (!proxies.every((proxy) => networkNames.includes(proxy) || isNetwork(proxy))) {
    throw new ConfigError(
      `${variable} must be off, on, or a list of addresses, networks (10.0.0.0/8) and ${networkNames.join(', ')}, not ${JSON.stringify(text)}.`,
    );
  }
  return proxies;
};

const isNetwork = (text: string) =>
  isIP(text) !== 0 || (isIP(text.split('/')[0] as string) !== 0 && ipaddr.isValidCIDR(text));
