import { Cluster, Redis, type RedisOptions } from 'iovalkey';
import { corkForTurn } from '../../foundation/cork-for-turn.ts';
import { withTimeout } from '../../foundation/promises.ts';
import {
  type Login,
  parseValkeyUrl,
  type ValkeyUrl,
  WrongValkeyUrl,
} from '../../foundation/settings/valkey-url.ts';

/** A server or a cluster. A broken connection fails its commands and is not opened again. */
export type Valkey = Redis | Cluster;

type Place = Pick<ValkeyUrl, 'host' | 'port' | 'isTls'>;

const destroyAfterMs = 100;

/**
 * Connects to a server, to the cluster that it belongs to, or to the master that Sentinels report. Several addresses are nodes of one
 * cluster, or Sentinels of one master. Rejects if a step takes longer than `withinMs`. Rejects with WrongValkeyUrl if the address
 * can never be used.
 */
export async function connectValkey(urls: readonly string[], withinMs: number): Promise<Valkey> {
  const addresses = urls.map(parseValkeyUrl);
  const { server, isNode } = await firstServer(addresses, withinMs);
  if (!isNode) return server;
  server.disconnect();
  const cluster = clusterOf(addresses, withinMs);
  // Connects to all nodes now, because the first request to an unconnected node might wait too long.
  await open(cluster, () => Promise.all(cluster.nodes('master').map((node) => node.ping())), withinMs);
  return cluster;
}

/** The first usable server. Tries all at once, so that a silent server or a Sentinel with an old master causes no delay. */
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

async function findMaster(
  address: ValkeyUrl,
  { master, login }: NonNullable<ValkeyUrl['sentinel']>,
  withinMs: number,
): Promise<ValkeyUrl> {
  const sentinel = new Redis(optionsOf(address, login));
  const ask = () => sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master);
  const answer = (await open(sentinel, ask, withinMs)) as [host: string, port: string] | null;
  sentinel.disconnect();
  if (answer === null) throw new Error(`the Sentinel at ${placeOf(address)} knows no master ${master}`);
  return { ...address, host: answer[0], port: Number(answer[1]) };
}

/** Connects to a master or to a node of a cluster. */
async function openServer(address: ValkeyUrl, mustBeNode: boolean, withinMs: number) {
  const server = new Redis({ ...optionsOf(address, address.login), db: address.database });
  sendOncePerTurn(server);
  const inspect = async () => {
    const info = await server.info();
    const mode = /^(?:redis|server)_mode:(\w+)/m.exec(info)?.[1];
    const isNode = mode === 'cluster' && !address.sentinel;
    const problem = isNode ? undefined : problemOf(address, mode, info, mustBeNode);
    if (problem) throw problem;
    return { server, isNode };
  };
  return open(server, inspect, withinMs);
}

/** Why a server outside a cluster cannot be used. Undefined if it can. */
function problemOf(
  address: ValkeyUrl,
  mode: string | undefined,
  info: string,
  mustBeNode: boolean,
): Error | undefined {
  const place = placeOf(address);
  if (mode === 'sentinel') {
    const right = `${address.isTls ? 'rediss' : 'redis'}+sentinel://${place}/NAME`;
    return new WrongValkeyUrl(`VALKEY_URL names a Sentinel. Write ${right}. NAME is the name of the master.`);
  }
  if (mustBeNode)
    return new WrongValkeyUrl(
      `VALKEY_URL names several servers, but the one at ${place} is no node of a cluster.`,
    );
  if (/^role:slave/m.test(info)) return new Error(`the server at ${place} is a replica`);
}

/** Connects and resolves with the result of `greet`. Closes the connection on any failure. */
async function open<Result>(client: Valkey, greet: () => Promise<Result>, withinMs: number): Promise<Result> {
  let failure: Error | undefined;
  let nodeFailure: Error | undefined;
  // A refused password or database shows only as an event.
  client.on('error', (error: Error) => (failure ??= error));
  client.on('node error', (error: Error) => (nodeFailure ??= error));
  try {
    const result = await inTime(withinMs, client.connect().then(greet));
    if (failure) throw failure;
    return result;
  } catch (error) {
    client.disconnect();
    return throwFirst(nodeFailure ?? failure ?? error);
  }
}

/** Throws an error, or the most helpful one of an AggregateError. */
function throwFirst(error: unknown): never {
  if (!(error instanceof AggregateError)) throw error;
  throw error.errors.find((one) => one instanceof WrongValkeyUrl) ?? error.errors[0];
}

/** A cluster that is found through one of the addresses. Its nodes use the options of the first address. */
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
    // TLS certificates contain the name of the host, so the socket must resolve the name.
    dnsLookup: (address, callback) => callback(null, address),
    redisOptions: { ...redisOptions, db: first.database },
  });
  cluster.on('+node', handleAsking);
  cluster.on('+node', sendOncePerTurn);
  return cluster;
}

function sendOncePerTurn(server: Redis): void {
  const sendCommand = server.sendCommand.bind(server);
  server.sendCommand = (command, other) => {
    if (server.stream) corkForTurn(server.stream);
    return sendCommand(command, other);
  };
}

/** While a slot moves, iovalkey ignores the result of ASKING. Its rejection would end the process when the connection breaks. */
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
    // IPv4 or IPv6, depending on how the name resolves.
    family: 0,
    lazyConnect: true,
    enableOfflineQueue: false,
    // A server that is not ready responds to the first command with the reason.
    enableReadyCheck: false,
    retryStrategy: () => null,
    disconnectTimeout: destroyAfterMs,
  } satisfies RedisOptions;
}

const placeOf = ({ host, port }: Place) => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Rejects if `answer` does not come within `ms`. */
export const inTime = <T>(ms: number, answer: Promise<T>): Promise<T> =>
  withTimeout(ms, answer, () => new Error(`no answer within ${ms} ms`));
