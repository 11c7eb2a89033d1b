import { Cluster, Redis, type RedisOptions } from 'iovalkey';
import { type Login, parseValkeyUrl, type ValkeyUrl, WrongValkeyUrl } from './valkey-url.ts';

/** A server or a cluster. Commands on a connection that breaks fail; it is not opened again. */
export type Valkey = Redis | Cluster;

type Place = Pick<ValkeyUrl, 'host' | 'port' | 'isTls'>;

const destroyAfterMs = 100;

/**
 * Connects to the server at an address that `parseValkeyUrl` reads, to the cluster that it belongs to, or to the master
 * that Sentinels name. Several addresses are nodes of one cluster, or Sentinels: the first that answers is gone by. Rejects
 * if a step takes longer than `withinMs`, and by WrongValkeyUrl if what is there can never be used.
 */
export async function connectValkey(urls: readonly string[], withinMs: number): Promise<Valkey> {
  const addresses = urls.map(parseValkeyUrl);
  const isSentinel = addresses.some(({ sentinel }) => sentinel);
  const places = isSentinel ? [await findMaster(addresses, withinMs)] : addresses;
  const { server, info, address } = await firstServer(places, withinMs);
  const mode = /^(?:redis|server)_mode:(\w+)/m.exec(info)?.[1];
  const problem = mode !== 'cluster' && problemOf(address, mode, info, places.length);
  if (mode !== 'cluster' && !problem) return server;
  server.disconnect();
  if (problem) throw problem;
  const cluster = clusterOf(address);
  // Otherwise a node would be connected when it is first used, and that request might wait too long.
  await open(cluster, () => Promise.all(cluster.nodes('master').map((node) => node.ping())), withinMs);
  return cluster;
}

/** Where the master is, by the first Sentinel that knows it. */
function findMaster(addresses: readonly ValkeyUrl[], withinMs: number): Promise<ValkeyUrl> {
  const asked = addresses.map(async (address) => {
    const { master, login } = address.sentinel as NonNullable<ValkeyUrl['sentinel']>;
    const sentinel = new Redis(optionsOf(address, login));
    const ask = () => sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master);
    const answer = (await open(sentinel, ask, withinMs)) as [string, string] | null;
    sentinel.disconnect();
    if (!answer) throw new Error(`the Sentinel at ${placeOf(address)} knows no master ${master}`);
    return { ...address, host: answer[0], port: Number(answer[1]) };
  });
  return Promise.any(asked).catch(throwFirst);
}

/** The first server that answers, with what it tells about itself. */
async function firstServer(addresses: readonly ValkeyUrl[], withinMs: number) {
  const opened = addresses.map(async (address) => {
    const server = new Redis({ ...optionsOf(address, address.login), db: address.database });
    return { server, address, info: await open(server, () => server.info(), withinMs) };
  });
  const first = await Promise.any(opened).catch(throwFirst);
  for (const one of opened)
    one.then(
      (other) => other !== first && other.server.disconnect(),
      () => {},
    );
  return first;
}

/** Why a server, which is no node of a cluster, cannot keep what is shared. */
function problemOf(
  address: ValkeyUrl,
  mode: string | undefined,
  info: string,
  count: number,
): Error | undefined {
  const place = placeOf(address);
  if (mode === 'sentinel') {
    const right = `${address.isTls ? 'rediss' : 'redis'}+sentinel://${place}/NAME`;
    return new WrongValkeyUrl(
      `VALKEY_URL leads to a Sentinel. Write ${right}, where NAME is that of the master that it watches.`,
    );
  }
  if (count > 1)
    return new WrongValkeyUrl(
      `VALKEY_URL names several servers, but the one at ${place} is no node of a cluster.`,
    );
  if (/^role:slave/m.test(info)) return new Error(`the server at ${place} is a replica`);
}

/** Connects, and resolves with what `greet` does then. A connection on which anything fails is closed. */
async function open<Result>(client: Valkey, greet: () => Promise<Result>, withinMs: number): Promise<Result> {
  let failure: Error | undefined;
  let nodeFailure: Error | undefined;
  // A password or a database that is refused shows here alone; the commands that fail with a connection report its error, too.
  client.on('error', (error: Error) => (failure ??= error));
  client.on('node error', (error: Error) => (nodeFailure ??= error));
  try {
    const result = await within(withinMs, client.connect().then(greet));
    if (failure) throw failure;
    return result;
  } catch (error) {
    client.disconnect();
    return throwFirst(failure ?? nodeFailure ?? error);
  }
}

/** Throws the first of several errors: attempts at one name with several addresses fail together, too. */
function throwFirst(error: unknown): never {
  throw error instanceof AggregateError ? error.errors[0] : error;
}

/** Its nodes are those that the one at `address` names, and are opened as that one. */
function clusterOf(address: ValkeyUrl): Cluster {
  const { host, port, ...redisOptions } = optionsOf(address, address.login);
  return new Cluster([{ host, port }], {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    clusterRetryStrategy: () => null,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 0,
    // A certificate names the host, so the socket looks up the name.
    dnsLookup: (address, callback) => callback(null, address),
    redisOptions: { ...redisOptions, db: address.database },
  });
}

function optionsOf({ host, port, isTls }: Place, login: Login) {
  return {
    host,
    port,
    ...login,
    ...(isTls && { tls: {} }),
    // Whether a name has addresses of IPv4 or of IPv6.
    family: 0,
    lazyConnect: true,
    enableOfflineQueue: false,
    // What is not ready says why when it is first asked.
    enableReadyCheck: false,
    retryStrategy: () => null,
    disconnectTimeout: destroyAfterMs,
  } satisfies RedisOptions;
}

const placeOf = ({ host, port }: Place) => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** What `promise` resolves with, or a rejection after `ms`. */
export function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`no answer within ${ms} ms`));
    // If this process was busy, the answer may be there and only unread: reading comes before setImmediate.
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
