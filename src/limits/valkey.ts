import { Cluster, Command, Redis, type RedisOptions } from 'iovalkey';
import { placeIn, slotsIn } from './valkey-answers.ts';
import { GuardedConnector } from './valkey-connector.ts';
import { type Login, parseValkeyUrl, type ValkeyUrl, WrongValkeyUrl } from './valkey-url.ts';

/** A server or a cluster. Commands on a connection that breaks fail; it is not opened again. */
export type Valkey = Redis | Cluster;

type Place = Pick<ValkeyUrl, 'host' | 'port' | 'isTls'>;

const destroyAfterMs = 100;

// iovalkey itself looks at no form here, and what it throws then is caught by nobody. CLUSTER SLOTS is all that it asks so.
Command.setReplyTransformer('cluster', slotsIn);

/**
 * Connects to the server at an address that `parseValkeyUrl` reads, to the cluster that it belongs to, or to the master
 * that Sentinels name. Several addresses are nodes of one cluster, or Sentinels, of which one that knows is enough. Rejects
 * if a step takes longer than `withinMs`, and by WrongValkeyUrl if what is there can never be used.
 */
export async function connectValkey(urls: readonly string[], withinMs: number): Promise<Valkey> {
  const addresses = urls.map(parseValkeyUrl);
  const { server, isNode } = await firstServer(addresses, withinMs);
  if (!isNode) return server;
  server.disconnect();
  const cluster = clusterOf(addresses, withinMs);
  // Otherwise a node would be connected when it is first used, and that request might wait too long.
  await open(cluster, () => Promise.all(cluster.nodes('master').map((node) => node.ping())), withinMs);
  return cluster;
}

/** The first that can be used. All are asked at once: one that is silent, or knows an old master, holds up no other. */
async function firstServer(addresses: readonly ValkeyUrl[], withinMs: number) {
  const opened = addresses.map(async (address) => {
    if (address.sentinel)
      return openServer(await findMaster(address, address.sentinel, withinMs), false, withinMs);
    return openServer(address, addresses.length > 1, withinMs);
  });
  const first = await Promise.any(opened).catch(throwFirst);
  const closeOther = (other: typeof first) => other !== first && other.server.disconnect();
  for (const one of opened) one.then(closeOther, () => {});
  return first;
}

/** Where the master is, as a Sentinel knows it. */
async function findMaster(
  address: ValkeyUrl,
  { master, login }: NonNullable<ValkeyUrl['sentinel']>,
  withinMs: number,
): Promise<ValkeyUrl> {
  const sentinel = new Redis(optionsOf(address, login));
  const ask = () => sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master);
  const answer = await open(sentinel, ask, withinMs);
  sentinel.disconnect();
  if (answer === null) throw new Error(`the Sentinel at ${placeOf(address)} knows no master ${master}`);
  return { ...address, ...placeIn(answer) };
}

/** A connection to a server that can keep what is shared, or is a node of a cluster. */
async function openServer(address: ValkeyUrl, mustBeNode: boolean, withinMs: number) {
  const server = new Redis({ ...optionsOf(address, address.login), db: address.database });
  const look = async () => {
    const info = await server.info();
    const mode = /^(?:redis|server)_mode:(\w+)/m.exec(info)?.[1];
    const isNode = mode === 'cluster' && !address.sentinel;
    const problem = isNode ? undefined : problemOf(address, mode, info, mustBeNode);
    if (problem) throw problem;
    return { server, isNode };
  };
  return open(server, look, withinMs);
}

/** Why a server that is no node of a cluster cannot be used. */
function problemOf(
  address: ValkeyUrl,
  mode: string | undefined,
  info: string,
  mustBeNode: boolean,
): Error | undefined {
  const place = placeOf(address);
  if (mode === 'sentinel') {
    const right = `${address.isTls ? 'rediss' : 'redis'}+sentinel://${place}/NAME`;
    return new WrongValkeyUrl(
      `VALKEY_URL leads to a Sentinel. Write ${right}, where NAME is that of the master that it watches.`,
    );
  }
  if (mustBeNode)
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
    return throwFirst(nodeFailure ?? failure ?? error);
  }
}

/**
 * Throws the error that tells most of several: where none of several addresses can be used, also those of one name.
 */
function throwFirst(error: unknown): never {
  if (!(error instanceof AggregateError)) throw error;
  throw error.errors.find((one) => one instanceof WrongValkeyUrl) ?? error.errors[0];
}

/** Its nodes are those that one of the addresses names, and are opened as the first of them says. */
function clusterOf(addresses: readonly ValkeyUrl[], withinMs: number): Cluster {
  const [first] = addresses as [ValkeyUrl];
  const { host: _host, port: _port, ...redisOptions } = optionsOf(first, first.login);
  const nodes = addresses.map(({ host, port }) => ({ host, port }));
  const cluster = new Cluster(nodes, {
    slotsRefreshTimeout: withinMs / nodes.length,
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    clusterRetryStrategy: () => null,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 0,
    // A certificate names the host, so the socket looks up the name.
    dnsLookup: (address, callback) => callback(null, address),
    redisOptions: { ...redisOptions, db: first.database },
  });
  cluster.on('+node', handleAsking);
  return cluster;
}

/**
 * While a slot moves, iovalkey sends ASKING before a command, and looks at no answer to it. If that fails with the connection,
 * nobody handles the rejection, which would end the process. The command itself fails, too.
 */
function handleAsking(node: Redis): void {
  const asking = node.asking.bind(node);
  node.asking = () => {
    const answer = asking();
    answer.catch(() => {});
    return answer;
  };
}

function optionsOf({ host, port, isTls }: Place, login: Login) {
  return {
    host,
    port,
    ...login,
    ...(isTls && { tls: {} }),
    // Whether a name has addresses of IPv4 or of IPv6.
    family: 0,
    Connector: GuardedConnector as NonNullable<RedisOptions['Connector']>,
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
