import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCodes } from '../../src/foundation/errors.ts';
import { type Changes, haproxy, namesInstance, nginx, quickSilenceMs } from '../support/load-balancers.ts';
import { startNameServer } from '../support/name-server.ts';
import { type Petstore, type StoreSetup, startPetstore } from '../support/petstore.ts';
import { freePort } from '../support/port.ts';
import { drip, rawRequest } from '../support/raw-client.ts';
import { StallingProxy } from '../support/stalling-proxy.ts';
import { openStream } from '../support/streams.ts';
import { until } from '../support/until.ts';

/** The most concurrent requests of one address, and the most connections. */
const [maxRequests, maxConnections] = [100, 400];
/** More connections than any address may have, and a class of students with a few connections and a stream each. */
const [tries, students, connectionsEach] = [5_000, 30, 6];
/** Long, since a test's machine may be busy, but less than nginx's default of 60 s. */
const patienceMs = 50_000;
/** The connections of this machine, and their states. */
const tcpTable = '/proc/net/tcp';
const established = '01';

/** A connection, its received text, and its end. */
function open(t: TestContext, port: number, text = '', localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  t.after(() => socket.destroy());
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const connection = { socket, text: '', ended };
  socket.on('error', () => {}).setEncoding('utf8');
  socket.on('data', (chunk) => (connection.text += chunk)).on('end', () => socket.end());
  socket.write(text);
  return connection;
}

/** The head of a POST whose body has this length. */
const post = (store: Petstore, length: Record<string, string>) =>
  rawRequest(store, 'POST', '/pets', { fields: { 'Content-Type': 'application/json', ...length } });
const long = { 'Content-Length': '60000' };

/** Waits for the end of a connection. */
async function untilEnded({ ended }: { ended: Promise<unknown> }): Promise<void> {
  const isOver = sleep(patienceMs, true, { ref: false });
  assert.ok(!(await Promise.race([ended, isOver])), 'the connection did not end');
}

/** Sends a request on a connection of its own, and returns the response. */
async function ask(t: TestContext, port: number, request: string, localAddress?: string): Promise<string> {
  const connection = open(t, port, request, localAddress);
  await untilEnded(connection);
  return connection.text;
}

const getPet = (store: Petstore, fields: Record<string, string> = {}) =>
  rawRequest(store, 'GET', '/pets/1', { fields });
const closing = { Connection: 'close' };

const portOf = async (store: Petstore) => Number(new URL(await store.listen()).port);

/** Sends a request to the categories with a key. */
const sendCategory = (
  port: number,
  method: string,
  headers: Record<string, string>,
  path = '',
  name = 'Dragons',
) =>
  fetch(`http://127.0.0.1:${port}/v1/categories${path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: method === 'GET' || method === 'DELETE' ? null : JSON.stringify({ name }),
  });

/** Whether a server on this machine still has the connection of a client. The client cannot see that unless it reads. */
function isHeld(port: number, { localPort = 0 }: Socket): boolean {
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0');
  const ends = new RegExp(`:${hex(port)} [0-9A-F]{8}:${hex(localPort)} ${established} `);
  return ends.test(readFileSync(tcpTable, 'utf8'));
}

/** Whether a response is the Error object of this status, in a form that the service uses. */
function assertError(answer: string, status: number): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  assert.match(head, new RegExp(`^HTTP/1.1 ${status} `));
  assert.match(head, /^Content-Type: application\/json/m);
  assert.match(head, /^X-Request-Id: \S+/m);
  assert.match(body, /\}\n$/);
  const error = JSON.parse(body);
  assert.deepEqual(Object.keys(error), ['code', 'message', 'status']);
  assert.equal(error.status, status);
  assert.equal(errorCodes[error.code as keyof typeof errorCodes][0], status);
}

const close = 'Host: x\r\nConnection: close\r\n\r\n';
/** Requests that the load balancer or the service refuses, and their statuses. */
const refused = (store: Petstore): [request: string, status: number][] => [
  ['GET /v1/pets HTTP/1.1\r\n\r\n', 400],
  [`GET /error HTTP/1.1\r\n${close}`, 404],
  [`GET /${'a'.repeat(40_000)} HTTP/1.1\r\n${close}`, 431],
  [`GET /v1/pets HTTP/1.1\r\nX-Long: ${'a'.repeat(40_000)}\r\n${close}`, 431],
  [`GET /v1/pets HTTP/1.1\r\nX-Long: ${'a'.repeat(20_000)}\r\n${close}`, 431],
  [post(store, { 'Content-Length': '2000000' }), 413],
];
/** Input that every load balancer refuses as a request. */
const unreadable = (store: Petstore): string[] => [
  'nonsense\r\n\r\n',
  `CONNECT x:1 HTTP/1.1\r\n${close}`,
  post(store, { 'Transfer-Encoding': 'gzip' }),
];

for (const balancer of [nginx, haproxy]) {
  const { name, needs, quick, patient } = balancer;

  /** The load balancer in front of a service that trusts it. Tests may shorten its timeouts. */
  async function start(t: TestContext, changes: Changes = {}, options: StoreSetup = {}) {
    const store = await startPetstore(t, { trustProxy: ['loopback'], ...options });
    const instance = await portOf(store);
    return { store, instance, port: await balancer.start(t, [instance, instance, instance], changes) };
  }

  /** For invalid requests HAProxy can only send 400, in its own format. */
  const assertUnreadable = (answer: string, status: number) =>
    balancer === haproxy ? assert.match(answer, /^HTTP\/1.1 400 /) : assertError(answer, status);

  // They share one process, so each slows the others down.
  describe(`${name} as a load balancer`, { ...needs, concurrency: 2 }, () => {
    test('ends a connection whose header fields never end', async (t) => {
      const { port } = await start(t, quick.headers);
      const head = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n';
      const silent = open(t, port, head);
      const empty = open(t, port);
      const dripping = open(t, port, head);
      drip(t, dripping.socket, 'X-Drop: 1\r\n');
      for (const connection of [silent, empty, dripping]) await untilEnded(connection);
    });

    for (const [what, length, drop] of [
      ['that arrives byte by byte', long, ' '],
      ['in chunks', { 'Transfer-Encoding': 'chunked' }, '1\r\n \r\n'],
      ['that does not arrive', long, ''],
    ] as const) {
      test(`returns 408 for a body ${what}`, async (t) => {
        const timeLimits = { headersMs: 500, requestMs: 1_000, checkEveryMs: 50 };
        // The timeout of the response starts after the body.
        const changes = { ...quick.linger, ...quick.answer };
        const { store, port } = await start(t, changes, { timeLimits });
        const connection = open(t, port, post(store, length));
        if (drop) drip(t, connection.socket, drop);
        await untilEnded(connection);
        assertError(connection.text, 408);
      });
    }

    const skip = !existsSync(tcpTable) && `this system has no ${tcpTable}`;
    test('ends a connection whose responses are not read', { skip }, async (t) => {
      const { port } = await start(t, quick.unread);
      const documents = 400;
      const connection = open(t, port, 'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(documents));
      connection.socket.pause();
      await until(() => isHeld(port, connection.socket));
      // The table is long on a busy machine.
      await until(() => sleep(200).then(() => !isHeld(port, connection.socket)), patienceMs);
      connection.socket.resume();
      await untilEnded(connection);
      assert.ok(connection.text.split('"openapi":').length < documents);
    });

    test('hides the metrics, in every spelling of their path', async (t) => {
      const { store, port } = await start(t);
      for (const path of [
        '/metrics',
        '/metrics?x=1',
        '/metrics#x',
        '/metrics/',
        '//metrics',
        '/%6detrics',
        '/%6Detrics?x',
        '/./metrics',
        '/v1/../metrics',
        '/v1/%2e%2e/metrics',
        '/x/..//%6d%65trics/.',
        'http://x/metrics',
      ]) {
        const text = await ask(t, port, `GET ${path} HTTP/1.1\r\n${close}`);
        if (path.includes('#')) assertUnreadable(text, 404);
        else assertError(text, 404);
      }
      assert.ok(!store.log.some((line) => line.includes('etrics')));
      assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
    });

    test('passes on the real address of the client, whatever the client claims', async (t) => {
      const { store, port } = await start(t);
      const remaining = [];
      for (const claim of ['192.0.2.1', '192.0.2.2, 127.0.0.1', 'unknown']) {
        const { headers } = await fetch(`http://127.0.0.1:${port}/v1/pets/1`, {
          headers: { 'x-forwarded-for': claim, forwarded: `for=${claim}`, 'x-real-ip': claim },
        });
        remaining.push(Number(headers.get('x-ratelimit-remaining')));
      }
      assert.deepEqual(remaining, [59, 58, 57]);
      const logged = store.log.map((line) => JSON.parse(line)).filter(({ url }) => url === '/v1/pets/1');
      assert.equal(logged.length, 3);
      for (const { address } of logged) assert.equal(address, '127.0.0.1');
    });

    test('refuses requests beyond the limit of an address, and no others', async (t) => {
      const { store, port } = await start(t, patient, { timeLimits: { requestMs: 2 * patienceMs } });
      const askFrom = (address: string) => ask(t, port, getPet(store, closing), address);
      let underWay = 0;
      store.app.server.on('request', ({ method }) => method === 'POST' && underWay++);
      const begin = () => open(t, port, `${post(store, { 'Content-Length': '9' })}{`).socket;
      const waiting = Array.from({ length: maxRequests - 1 }, begin);
      await until(() => underWay === maxRequests - 1, patienceMs);
      assert.match(await askFrom('127.0.0.1'), /^HTTP\/1.1 200 /);
      const last = begin();
      await until(() => underWay === maxRequests, patienceMs);
      const refused = await askFrom('127.0.0.1');
      assertError(refused, 429);
      assert.match(refused, /^retry-after: 1\r$/im);
      assert.match(await askFrom('127.0.0.2'), /^HTTP\/1.1 200 /);
      last.destroy();
      await until(async () => (await askFrom('127.0.0.1')).startsWith('HTTP/1.1 200 '));
      for (const socket of waiting) socket.destroy();
    });

    test('an address that opens connections without end has a bounded number, and others are served', async (t) => {
      const { store, port } = await start(t, patient);
      const held = new Set<Socket>();
      for (let left = tries; left > 0; left -= maxConnections) {
        const wave = Array.from({ length: maxConnections }, () => {
          const { socket, ended } = open(t, port, 'GET /v1/pets HTTP/1.1\r\nX-Half: ', '127.0.0.2');
          held.add(socket);
          void ended.then(() => held.delete(socket));
          return once(socket, 'ready').catch(() => {});
        });
        await Promise.all(wave);
      }
      await until(() => held.size <= maxConnections);
      for (let i = 0; i < 20; i++)
        assert.match(await ask(t, port, getPet(store, closing)), /^HTTP\/1.1 200 /);
      assert.equal(held.size, maxConnections, 'the greedy address still had its connections');
      for (const socket of held) socket.destroy();
    });

    test('serves a class of students behind one address, each with connections and a stream', async (t) => {
      const { store, port } = await start(t, patient);
      const student = async () => {
        const stream = await openStream(t, `http://127.0.0.1:${port}`, { key: store.key });
        const connections = Array.from({ length: connectionsEach }, () => open(t, port));
        return { stream, connections };
      };
      const all = await Promise.all(Array.from({ length: students }, student));
      for (let round = 1; round <= 2; round++) {
        const askOnEach = async ({ connections }: (typeof all)[number]) => {
          for (const connection of connections) {
            connection.socket.write(getPet(store));
            await until(() => connection.text.split('"id":1,').length === round + 1);
          }
        };
        await Promise.all(all.map(askOnEach));
      }
      for (const { stream, connections } of all) {
        assert.deepEqual([stream.status, stream.ended], [200, 'no']);
        for (const { text } of connections) assert.equal(text.match(/^HTTP\/1.1 200 /gm)?.length, 2);
      }
    });

    test('passes on stream events at once, and keeps an idle stream open', async (t) => {
      const { store, port } = await start(t, { ...quick.silence, ...quick.unread });
      const reader = await openStream(t, `http://127.0.0.1:${port}`, { key: store.key });
      // Comments come within the announced time. Those of this test are frequent, however long the test takes.
      let promised = 0;
      const startBeat = () => {
        const beat = setInterval(() => {
          if (reader.comments < promised) return;
          promised++;
          store.aheadMs += 15_000;
        }, 50);
        t.after(() => clearInterval(beat));
        return beat;
      };
      const beat = startBeat();
      const places: number[] = [];
      for (let i = 0; i < 3; i++) {
        await store.call('POST', '/categories', { body: { name: 'Dragons' } });
        await until(() => reader.events.length === i + 1);
        places.push(reader.place as number);
      }
      assert.deepEqual(places, [2, 3, 4]);
      // Only comments, for longer than a silent stream may last.
      const startMs = performance.now();
      await until(() => performance.now() - startMs > quickSilenceMs + 500);
      clearInterval(beat);
      await until(() => reader.comments === promised);
      assert.equal(reader.ended, 'no');
      startBeat();
      await store.app.close();
      await reader.untilEnded();
      assert.equal(reader.ended, 'whole');
    });

    test('counts streams of an address apart from its other requests', async (t) => {
      const { store, port } = await start(t, balancer.twoRequests);
      const origin = `http://127.0.0.1:${port}`;
      for (let i = 0; i < 5; i++) assert.equal((await openStream(t, origin, { key: store.key })).status, 200);
      assert.equal((await fetch(`${origin}/v1/pets/1`, { headers: { 'x-api-key': store.key } })).status, 200);
      assert.match(await store.metrics(), /^petstore_open_streams 5$/m);
    });

    test('spells header fields as the service does, and announces no longer Keep-Alive than it allows', async (t) => {
      const { store, instance, port } = await start(t);
      const namesOf = (text: string) => [...text.matchAll(/^([\w-]+):/gm)].map(([, name]) => name);
      const namesFrom = async (at: number) => {
        const asked = open(t, at, getPet(store));
        await until(() => asked.text.endsWith('}\n'));
        return namesOf(asked.text.split('\r\n\r\n')[0] as string).sort();
      };
      const direct = await namesFrom(instance);
      const names = direct.filter((name) => name !== 'Connection' && name !== 'Keep-Alive');
      assert.equal(names.length, direct.length - 2);
      const passedOn = (await namesFrom(port)).filter((name) => name !== 'Connection' && name !== 'Server');
      assert.deepEqual(passedOn, names);
    });

    test('ends a stream at the service when its client disconnects', async (t) => {
      const { store, port } = await start(t);
      const reader = await openStream(t, `http://127.0.0.1:${port}`, { key: store.key });
      reader.cut();
      await until(async () => (await store.db.read`select id from streams`).length === 0);
    });

    test('sends its own error responses in the format of the service', async (t) => {
      const { store, port } = await start(t, quick.linger);
      for (const [request, status] of refused(store)) assertError(await ask(t, port, request), status);
      for (const request of unreadable(store)) assertUnreadable(await ask(t, port, request), 400);
    });

    test('uses the remaining instance, and returns 503 when there is none', async (t) => {
      const store = await startPetstore(t);
      const instance = await portOf(store);
      const port = await balancer.start(t, [await freePort(), instance, await freePort()]);
      const send = (method: string, path: string, name?: string) =>
        sendCategory(port, method, { 'x-api-key': store.key }, path, name);
      for (let i = 0; i < 6; i++) {
        const { status, headers } = await send('POST', '');
        assert.equal(status, 201);
        const path = `/${headers.get('location')?.split('/').at(-1)}`;
        assert.equal((await send('PUT', path, 'Unicorns')).status, 200);
        assert.equal((await send('DELETE', path)).status, 204);
      }
      await store.app.close();
      const refusal = await ask(t, port, `GET /v1/pets HTTP/1.1\r\n${close}`);
      assertError(refusal, 503);
      assert.match(refusal, /^retry-after: 1\r$/im);
    });
  });
}

test('nginx retries a GET but no POST, and leaves an instance that is silent', nginx.needs, async (t) => {
  const store = await startPetstore(t);
  const instance = await portOf(store);
  const silent = await StallingProxy.start(t, instance);
  silent.stall();
  const port = await nginx.start(t, [silent.port, instance, instance], {
    'proxy_read_timeout 7s': 'proxy_read_timeout 2s',
    'max_fails=3 fail_timeout=2s': 'max_fails=3 fail_timeout=1h',
  });
  const statuses = (method: string, times: number) => {
    const one = async () => {
      const answer = await sendCategory(port, method, { 'x-api-key': store.key });
      await answer.text();
      return answer.status;
    };
    return Promise.all(Array.from({ length: times }, one));
  };
  assert.deepEqual((await statuses('POST', 3)).sort(), [201, 201, 503]);
  assert.deepEqual([...new Set(await statuses('GET', 12))], [200]);
  const { count } = silent;
  assert.deepEqual([...new Set(await statuses('POST', 12))], [201]);
  assert.equal(silent.count, count);
});

test('HAProxy starts before names resolve, follows them, and keeps the last', haproxy.needs, async (t) => {
  const store = await startPetstore(t);
  const instance = await portOf(store);
  // Nobody listens there, and the other two names have no address.
  const addresses = new Map([['petstore-1', '127.0.0.9']]);
  const nameServer = await startNameServer(t, addresses);
  const ports: [number, number, number] = [instance, await freePort(), await freePort()];
  const port = await haproxy.start(t, ports, {
    ...Object.fromEntries(ports.map((own, i) => [`127.0.0.1:${own}`, `petstore-${i + 1}:${own}`])),
    'parse-resolv-conf': `nameserver own 127.0.0.1:${nameServer.port}`,
    'init-addr last,libc,none': 'init-addr none',
  });
  const status = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status;
  assert.equal(await status(), 503);
  addresses.set('petstore-1', '127.0.0.1');
  await until(async () => (await status()) === 200);
  addresses.clear();
  const { asked } = nameServer;
  await until(() => nameServer.asked >= asked + 20);
  assert.equal(await status(), 200);
});

test('HAProxy sends the writes of a key to one instance, and its reads to all', haproxy.needs, async (t) => {
  const store = await startPetstore(t);
  const instance = await portOf(store);
  const port = await haproxy.start(t, [instance, instance, instance], {
    ...haproxy.unhurried,
    ...namesInstance,
  });
  const instancesOf = async (method: string, headers: Record<string, string>) => {
    const seen = new Set<string | null>();
    for (let i = 0; i < 6; i++) {
      const answer = await sendCategory(port, method, headers);
      assert.ok(answer.ok, await answer.text());
      seen.add(answer.headers.get('x-instance'));
    }
    return seen;
  };
  const keys = [store.key, ...(await Promise.all(Array.from({ length: 11 }, (_, i) => otherKey(store, i))))];
  const all = new Set<string | null>();
  for (const key of keys) {
    const seen = await instancesOf('POST', { 'x-api-key': key });
    assert.equal(seen.size, 1);
    for (const one of seen) all.add(one);
    assert.equal((await instancesOf('POST', { authorization: `Bearer ${key}` })).size, 1);
  }
  assert.ok(all.size > 1, 'keys are spread');
  assert.equal((await instancesOf('GET', { 'x-api-key': store.key })).size, 3);
});

const otherKey = async (store: Petstore, i: number) => (await store.addWorkspace(`other-${i}`, false)).key;
