/** How to log in; nothing where no password is asked for. */
export interface Login {
  username?: string;
  password?: string;
}

/** What one address in VALKEY_URL says. */
export interface ValkeyUrl {
  host: string;
  port: number;
  isTls: boolean;
  login: Login;
  database: number;
  /** Set if a Sentinel is there: which master it is asked for, and how to log in at the Sentinel itself. */
  sentinel?: { master: string; login: Login };
}

/** An address that never leads to limits that are shared, whatever the servers do. */
export class WrongValkeyUrl extends Error {}

const [serverPort, sentinelPort] = [6379, 26_379];

/** The addresses in a text, separated by commas. Of Sentinels only the hosts are: each stands for an address of its own. */
export function splitValkeyUrls(text: string): string[] {
  const [, before, hosts = text, after = ''] =
    /^(rediss?\+sentinel:\/\/(?:[^@/]*@)?)([^/?#]*)(.*)$/.exec(text) ?? [];
  return hosts.split(',').map((host) => (before ?? '') + host.trim() + after);
}

/**
 * Reads `redis[s]://[user:password@]host[:port][/database]`, or for a Sentinel
 * `redis[s]+sentinel://[user:password@]host[:port]/name[/database][?sentinel_username=…&sentinel_password=…]`, whose first
 * user and password are those of the master. Throws on anything else.
 */
export function parseValkeyUrl(text: string): ValkeyUrl {
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  const [, tls, sentinel] = match(/^redis(s?)(\+sentinel)?:$/, protocol);
  const [, name, database] = match(sentinel ? /^\/([^/]+)(?:\/(\d*))?$/ : /^(?:\/()(\d*))?$/, pathname);
  // A plus is a plus in passwords, and a space only in forms.
  const query = new URLSearchParams(search.replaceAll('+', '%2B'));
  const login = takeLogin(query, 'sentinel_username', 'sentinel_password');
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

function takeLogin(query: URLSearchParams, ...names: [string, string]): Login {
  const [username, password] = names.map((name) => query.get(name) ?? undefined);
  for (const name of names) query.delete(name);
  return loginOf(username, password);
}

const loginOf = (username?: string, password?: string): Login => ({
  ...(username && { username }),
  ...(password && { password }),
});
