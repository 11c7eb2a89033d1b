/** The user and the password; empty if the server requires none. */
export interface Login {
  username?: string;
  password?: string;
}

/** One address of VALKEY_URL. */
export interface ValkeyUrl {
  host: string;
  port: number;
  isTls: boolean;
  login: Login;
  database: number;
  /** Set if the address is a Sentinel's: the name of its master, and the login of the Sentinel itself. */
  sentinel?: { master: string; login: Login };
}

/** An address that can never lead to shared limits, even if its servers run. */
export class WrongValkeyUrl extends Error {}

const [serverPort, sentinelPort] = [6379, 26_379];

/** Splits a list of addresses at its commas. A list of Sentinels repeats only the hosts, so each gets the rest of the text. */
export function splitValkeyUrls(text: string): string[] {
  const [, before, hosts = text, after = ''] =
    /^(rediss?\+sentinel:\/\/(?:[^@/]*@)?)([^/?#]*)(.*)$/.exec(text) ?? [];
  return hosts.split(',').map((host) => (before ?? '') + host.trim() + after);
}

/**
 * Reads `redis[s]://[user:password@]host[:port][/database]`, or
 * `redis[s]+sentinel://[user:password of the master@]host[:port]/name[/database][?sentinel_username=…&sentinel_password=…]`.
 */
export function parseValkeyUrl(text: string): ValkeyUrl {
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  const [, tls, sentinel] = match(/^redis(s?)(\+sentinel)?:$/, protocol);
  const [, name, database] = match(sentinel ? /^\/([^/]+)(?:\/(\d*))?$/ : /^(?:\/()(\d*))?$/, pathname);
  // URLSearchParams reads a plus as a space, as in forms.
  const query = new URLSearchParams(search.replaceAll('+', '%2B'));
  const login = extractLogin(query, 'sentinel_username', 'sentinel_password');
  if (hostname === '' || hash || query.size > 0 || (search && !sentinel)) throw new Error('not an address');
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (sentinel ? sentinelPort : serverPort)),
    isTls: tls === 's',
    login: loginOf(decodeURIComponent(username), decodeURIComponent(password)),
    database: Number(database || 0),
    ...(sentinel && name && { sentinel: { master: decodeURIComponent(name), login } }),
  };
}

function match(form: RegExp, text: string): RegExpExecArray {
  const found = form.exec(text);
  if (!found) throw new Error('not an address');
  return found;
}

function extractLogin(query: URLSearchParams, ...names: [string, string]): Login {
  const [username, password] = names.map((name) => query.get(name) ?? undefined);
  for (const name of names) query.delete(name);
  return loginOf(username, password);
}

const loginOf = (username?: string, password?: string): Login => ({
  ...(username && { username }),
  ...(password && { password }),
});

const maxMessageLength = 1_000;
/** This many first characters are enough to recognize a secret that the server has cut. */
const beginningLength = 16;

/** A message of a server without the logins of `urls`: it repeats what it was sent, and old servers cut it after 128 bytes. */
export function withoutLogins(message: string, urls: readonly string[]): string {
  const secrets = urls.flatMap(secretsOf).sort((a, b) => b.length - a.length);
  const withoutWhole = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message);
  return secrets.reduce(withoutBeginnings, withoutWhole).slice(0, maxMessageLength);
}

function secretsOf(url: string): string[] {
  const { login, sentinel } = parseValkeyUrl(url);
  const plain = [...Object.values(login), ...Object.values(sentinel?.login ?? {})] as string[];
  return plain.flatMap((secret) => [secret, encodeURIComponent(secret)]);
}

function withoutBeginnings(text: string, secret: string): string {
  if (secret.length <= beginningLength) return text;
  const [before = '', ...after] = text.split(secret.slice(0, beginningLength));
  const rest = secret.slice(beginningLength);
  return [before, ...after.map((part) => part.slice(commonLength(part, rest)))].join('***');
}

/** The length of the common beginning of two texts. */
function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
