import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { plans } from '../../src/foundation/settings/plans.ts';
import { createLogger } from '../../src/observe/log/logger.ts';
import { exchange } from '../support/exchange.ts';
import { type Petstore, type StoreSetup, startPetstore } from '../support/petstore.ts';
import { textOf } from '../support/tree.ts';

const maxFieldLength = 200;

const linesOf = (store: Petstore) => store.log.map((line) => JSON.parse(line));
const answered = (store: Petstore) => linesOf(store).filter(({ msg }) => msg === 'answered');

test('a long field is truncated in the log, with the number of omitted characters', async (t) => {
  const store = await startPetstore(t, { trustProxy: true });
  const path = `/pets?${'x'.repeat(15_000)}`;
  await store.call('GET', path, { headers: { 'x-forwarded-for': 'y'.repeat(1_500) } });
  const [line] = store.log as [string];
  const [{ url, address }] = linesOf(store);
  assert.equal(url, `${`/v1${path}`.slice(0, maxFieldLength)}… (14,809 characters more)`);
  assert.equal(address, `${'y'.repeat(maxFieldLength)}… (1,300 characters more)`);
  assert.ok(line.length < 1_000);
});

test('a long error is truncated in the log too', () => {
  let written = '';
  const log = createLogger('info', { write: (line) => (written += line) });
  log.error({ err: Object.assign(new Error('m'.repeat(50_000)), { detail: 'd'.repeat(50_000) }) }, 'failed');
  assert.ok(written.length < 5_000, `${written.length}`);
  assert.match(written, /m… \(49,000 characters more\)/);
  written = '';
  const nulls = '\0'.repeat(9_000);
  log.error({ err: Object.assign(new Error(nulls), { detail: [nulls] }) }, 'failed');
  assert.ok(written.length <= 1_000 * documented('take up to # kB'), `${written.length}`);
});

const encodeEach = (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&');

for (const [what, spell] of [
  ['plain', (key: string) => key],
  ['encoded', encodeEach],
  ['encoded twice', (key: string) => encodeEach(key).replaceAll('%', '%25')],
] as const) {
  test(`a truncated log field contains no part of a key: ${what}`, async (t) => {
    const store = await startPetstore(t, { seed: false });
    const key = spell(store.key);
    const path = '/v1/pets?';
    for (let at = Math.max(path.length, maxFieldLength - key.length - 1); at <= maxFieldLength + 1; at++) {
      await store.send('GET', `${path}${'x'.repeat(at - path.length)}${key}${'-'.repeat(2_000)}`);
    }
    const urls = answered(store).map(({ url }) => decodeURIComponent(decodeURIComponent(url)));
    assert.equal(urls.length, Math.min(key.length + 3, maxFieldLength + 2 - path.length));
    for (const url of urls) assert.doesNotMatch(url, /pet_[0-9A-Za-z]|p(e(t)?)?$/);
    assert.ok(!urls.join().includes(store.key.slice(4, 8)));
  });
}

test('a truncated log field contains no part of a password', () => {
  let written = '';
  const log = createLogger('info', { write: (line) => (written += line) });
  const address = 'redis://me:hunter2hunter2@localhost/';
  for (let at = maxFieldLength - address.length - 1; at <= maxFieldLength; at++) {
    log.info({ text: `${'x'.repeat(at)}${address}${'x'.repeat(2_000)}` }, 'text');
  }
  assert.doesNotMatch(written, /:h/);
});

/** A petstore whose log's minutes pass only when the test says so. Shorter timers run, since costly requests wait for them. */
async function startAtRest(t: TestContext, options: StoreSetup = {}) {
  const store = await startPetstore(t, options);
  const minutes = new Set<() => void>();
  const start = globalThis.setTimeout;
  const hold = (task: () => void, ms?: number, ...rest: unknown[]) => {
    if (ms !== 60_000) return start(task, ms, ...(rest as []));
    minutes.add(task);
    return start(() => {}, 0);
  };
  t.mock.method(globalThis, 'setTimeout', hold as unknown as typeof setTimeout);
  const passMinute = () => {
    const due = [...minutes];
    minutes.clear();
    for (const task of due) task();
  };
  return { store, passMinute };
}

const repeat = async (times: number, send: (i: number) => Promise<unknown>) => {
  for (let i = 0; i < times; i++) await send(i);
};

test('the log samples the requests of an address without a valid key, and counts those it left out', async (t) => {
  const { store, passMinute } = await startAtRest(t);
  for (const minute of [1, 2]) {
    await repeat(30, (i) => store.call('GET', `/pets?${i}`, { key: null }));
    await repeat(5, () => store.call('GET', '/pets/%E0%', { key: null }));
    await repeat(5, () => store.send('GET', '/nowhere', { key: null }));
    assert.equal(answered(store).length, minute * 20);
    passMinute();
    const { msg, leftOut } = linesOf(store).at(-1);
    assert.deepEqual([msg, leftOut], ['further requests were not logged one by one', 20]);
  }
  passMinute();
  assert.equal(store.log.length, 42, 'no line reports zero omitted lines');
  assert.match(await store.metrics(), /^petstore_log_lines_dropped_total\{reason="repeated"\} 40$/m);
});

test('unreadable requests are also sampled in the log', async (t) => {
  const { store } = await startAtRest(t, { seed: false });
  await store.listen();
  await Promise.all(Array.from({ length: 35 }, () => exchange(store, 'NONSENSE\r\n\r\n')));
  await store.app.close();
  assert.equal(answered(store).length, 20);
  assert.equal(linesOf(store).at(-1).leftOut, 15, 'reported at the end');
});

test('the log has every request that was admitted for a key, and samples of its refused ones', async (t) => {
  const { store, passMinute } = await startAtRest(t);
  const { key } = await store.addKey('enterprise', { perMinute: 50, perDay: 100 });
  await repeat(90, () => store.call('GET', '/pets?x=1', { key }));
  passMinute();
  const statuses = Map.groupBy(answered(store), ({ status }) => status);
  assert.equal(statuses.get(400)?.length, 50);
  assert.equal(statuses.get(429)?.length, 20);
  assert.equal(linesOf(store).at(-1).leftOut, 20);
});

/** The page on logs, and a number of it in place of `#` of a text. */
const page = textOf('docs/operations/logs.md');
const documented = (text: string) => {
  const [before, after] = text.split('#').map((part) => RegExp.escape(part)) as [string, string];
  const [, number] = new RegExp(`${before}([\\d,]+)${after}`).exec(page) ?? assert.fail(text);
  return Number(number?.replaceAll(',', ''));
};

const lineBytes = documented('The line of a request has at most # bytes');
/** Megabytes a day. */
const megabytes = (lines: number) => Math.ceil((lines * lineBytes) / 1_000_000);

test('the longest lines take the bytes that the page on logs says, for a key, an address and all together', async (t) => {
  const { store, passMinute } = await startAtRest(t, { trustProxy: true });
  await store.listen();
  const { key } = await store.addKey('free');
  const quotes = '"'.repeat(3_000);
  const common = `Host: x\r\nX-Request-Id: ${'"'.repeat(128)}\r\nConnection: close\r\n`;
  const ask = (target: string, from: string, fields = '', method = 'GET') =>
    exchange(
      store,
      `${method} ${target}?${quotes} HTTP/1.1\r\n${common}X-Forwarded-For: ${from}\r\n${fields}\r\n`,
    );
  const own = `X-API-Key: ${key}\r\n`;
  await repeat(plans.free.perMinute, () => ask('/v1/pets', quotes, own));
  await repeat(15, () => ask('/v1/pets', quotes, own));
  await repeat(15, () => ask('/lab/account', quotes, own));
  await repeat(15, () => ask('/mcp', quotes, `${own}Content-Length: 0\r\n`, 'POST'));
  await repeat(15, () => ask('/lab/nothing', quotes, own));
  const perMinute = documented('A key or an address has at most # lines a minute');
  assert.equal(answered(store).length, plans.free.perMinute + perMinute);
  const longest = Math.max(...store.log.map((line) => Buffer.byteLength(line)));
  assert.ok(longest <= lineBytes && longest > 0.7 * lineBytes, `${longest} bytes`);

  passMinute();
  store.log.length = 0;
  // One network of IPv6, and more than ten others.
  await repeat(30, (i) => ask('/v1/pets', `2001:db8::${i + 1}`));
  assert.equal(answered(store).length, perMinute);
  await repeat(15, async (i) => {
    await repeat(20, () => ask('/healthz', `10.0.0.${i + 1}`));
  });
  const ofAll = documented('All keys share #, and all addresses share another');
  assert.equal(answered(store).length, ofAll);
  await ask('/lab/account', quotes, own);
  assert.equal(answered(store).length, ofAll + 1, 'addresses leave the share of keys alone');
  passMinute();
  assert.equal(linesOf(store).at(-1).leftOut, 30 + 15 * 20 - ofAll);

  const minutes = 24 * 60;
  for (const [plan, quota] of Object.entries({
    Free: plans.free,
    Pro: plans.pro,
    Business: plans.business,
  })) {
    const lines = `${quota.perDay.toLocaleString('en')} a day, ${perMinute} a minute`;
    const bytes = documented(`| A ${plan} key | ${lines} | # |`);
    assert.equal(bytes, megabytes(quota.perDay + minutes * perMinute), plan);
  }
  for (const [sender, lines] of [
    ['An address', perMinute],
    ['All addresses', ofAll],
  ] as const)
    assert.equal(documented(`| ${sender} | ${lines} a minute | # |`), megabytes(minutes * lines), sender);
});

test('failures are sampled in their own share, for each key, each address and all together', async (t) => {
  const { store, passMinute } = await startAtRest(t, { trustProxy: true });
  await store.call('GET', '/pets/1');
  await store.db.write((sql) => sql`alter table pets rename column name to label`);
  await store.db.write((sql) => sql`alter table workspaces rename to places`);
  await repeat(15, () => store.call('GET', '/pets/1'));
  await repeat(15, () => store.send('GET', '/readyz', { key: null }));
  passMinute();
  const failed = linesOf(store).filter(({ msg }) => msg === 'failed');
  const perSender = documented('have their own share: # a minute for a key or an address');
  assert.equal(failed.length, 2 * perSender);
  const further = linesOf(store).find(({ msg }) => msg === 'further failures were not logged one by one');
  assert.equal(further.leftOut, 20);
  store.log.length = 0;
  const ofAll = documented('a key or an address, # in all');
  const from = (i: number) => ({ key: null, headers: { 'x-forwarded-for': `10.0.0.${i}` } });
  await repeat(ofAll + 10, (i) => store.send('GET', '/readyz', from(i)));
  assert.equal(linesOf(store).filter(({ msg }) => msg === 'failed').length, ofAll);
  const bytes = ofAll * documented('take up to # kB') * 24 * 60;
  assert.equal(documented(`| Failures of the service | ${ofAll} a minute | #, but`), bytes / 1_000);
});

test('the log of level debug samples the reasons of refusals, which are never in the response', async (t) => {
  const { store } = await startAtRest(t, { logLevel: 'debug' });
  const refusals = () => linesOf(store).filter(({ msg }) => msg === 'refused');
  for (const [method, path, body, cause] of [
    ['POST', '/pets', '{"name"', /SyntaxError: .*JSON/],
    ['POST', '/pets', { name: 'Rex', categoryId: 4711 }, /ForeignKeyError|foreign key/i],
    ['GET', '/pets?status=%', undefined, /URIError: URI malformed/],
  ] as const) {
    const answer = await store.call(method, path, { body });
    assert.equal(answer.status, 400);
    const refused = refusals().find(({ reqId }) => reqId === answer.headers['x-request-id']);
    assert.match(refused.err.stack, cause);
    assert.doesNotMatch(answer.text, /foreign|URIError|SyntaxError/i);
  }
  await repeat(50, () => store.call('GET', '/pets?status=%'));
  assert.equal(refusals().length, documented('why requests were refused: # lines a minute'));
});
