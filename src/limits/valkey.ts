import { Cluster, Redis, type RedisOptions } from 'iovalkey';

/** A server or a cluster. Commands on a connection that breaks fail; it is not opened again. */
export type Valkey = Redis | Cluster;

const destroyAfterMs = 100;

/**
 * Connects to the server at an address of the form `redis[s]://[user[:password]@]host[:port][/database]`, or to the
 * cluster that it belongs to; several addresses are nodes of one cluster. Rejects if that takes longer than `withinMs`.
 */
export async function connectValkey(urls: readonly string[], withinMs: number): Promise<Valkey> {
  const nodes = urls.map((url) => new URL(url));
  if (nodes.length > 1) return connect(clusterOf(nodes), withinMs);
  const server = await connect(new Redis(optionsOf(nodes[0] as URL)), withinMs);
  const isNode = await within(withinMs, isClusterNode(server)).catch((error) => {
    server.disconnect();
    throw error;
  });
  if (!isNode) return server;
  server.disconnect();
  return connect(clusterOf(nodes), withinMs);
}

const isClusterNode = async (server: Redis) => (await server.info('cluster')).includes('cluster_enabled:1');

async function connect<Client extends Valkey>(client: Client, withinMs: number): Promise<Client> {
  let reason: Error | undefined;
  // The commands that fail with a connection report its error, too.
  client.on('error', (error: Error) => {
    reason ??= error;
  });
  try {
    await within(withinMs, open(client));
    return client;
  } catch (error) {
    client.disconnect();
    throw reason ?? error;
  }
}

async function open(client: Valkey): Promise<void> {
  await client.connect();
  // Otherwise a node would be connected when it is first used, and that request might wait too long.
  if (client instanceof Cluster) await Promise.all(client.nodes('master').map((node) => node.ping()));
}

function clusterOf(nodes: readonly URL[]): Cluster {
  // Nodes that the cluster names are opened with the credentials of the first address.
  const { host: _host, port: _port, ...redisOptions } = optionsOf(nodes[0] as URL);
  const seeds = nodes.map((node) => {
    const { host, port } = optionsOf(node);
    return { host, port };
  });
  return new Cluster(seeds, {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: () => null,
    // A certificate names the host, so the socket looks up the name.
    dnsLookup: (address, callback) => callback(null, address),
    redisOptions,
  });
}

function optionsOf({ protocol, hostname, port, username, password, pathname }: URL): ServerOptions {
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || 6379),
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(pathname.length > 1 && { db: Number(pathname.slice(1)) }),
    ...(protocol === 'rediss:' && { tls: {} }),
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: () => null,
    disconnectTimeout: destroyAfterMs,
  };
}

type ServerOptions = RedisOptions & { host: string; port: number };

/** What `promise` resolves with, or a rejection after `ms`. */
export function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`no answer within ${ms} ms`));
    // If this process was busy, the answer may be there and only unread: reading comes before setImmediate.
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
