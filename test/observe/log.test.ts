import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../src/observe/log/logger.ts';
import { exchange } from '../support/exchange.ts';
import { type Options, type Petstore, startPetstore } from '../support/petstore.ts';

const maxFieldLength = 1_000;

const linesOf = (store: Petstore) => store.log.map((line) => JSON.parse(line));
const answered = (store: Petstore) => linesOf(store).filter(({ msg }) => msg === 'answered');

test('a long field is truncated in the log, with the number of omitted characters', async (t) => {
  const store = await startPetstore(t, { trustProxy: true });
  const path = `/pets?${'x'.repeat(15_000)}`;
  await store.call('GET', path, { headers: { 'x-forwarded-for': 'y'.repeat(1_500) } });
  const [line] = store.log as [string];
  const { url, address } = JSON.parse(line);
  assert.equal(url, `${`/v1${path}`.slice(0, maxFieldLength)}… (14009 characters more)`);
  assert.equal(address, `${'y'.repeat(maxFieldLength)}… (500 characters more)`);
  assert.ok(line.length < 3_000);
});

test('a long error is truncated in the log too', () => {
  let written = '';
  const log = createLogger('info', { write: (line) => (written += line) });
  log.error({ err: Object.assign(new Error('m'.repeat(50_000)), { detail: 'd'.repeat(50_000) }) }, 'failed');
  assert.ok(written.length < 15_000, `${written.length}`);
  assert.match(written, /m… \(46000 characters more\)/);
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
    for (let at = maxFieldLength - key.length - 1; at <= maxFieldLength + 1; at++) {
      await store.send('GET', `${path}${'x'.repeat(at - path.length)}${key}${'-'.repeat(2_000)}`);
    }
    const urls = answered(store).map(({ url }) => decodeURIComponent(decodeURIComponent(url)));
    assert.equal(urls.length, key.length + 3);
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

/** A petstore whose log's seconds pass only when the test says so. */
async function startAtRest(t: TestContext, options: Options = {}) {
  const store = await startPetstore(t, options);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return { store, passSecond: () => t.mock.timers.tick(1_000) };
}

const repeat = async (times: number, send: (i: number) => Promise<unknown>) => {
  for (let i = 0; i < times; i++) await send(i);
};

test('the log samples the requests of an address without a valid key, and counts those it left out', async (t) => {
  const { store, passSecond } = await startAtRest(t);
  for (const second of [1, 2]) {
    await repeat(30, (i) => store.call('GET', `/pets?${i}`, { key: null }));
    await repeat(5, () => store.call('GET', '/pets/%E0%', { key: null }));
    await repeat(5, () => store.send('GET', '/nowhere', { key: null }));
    assert.equal(answered(store).length, second * 10);
    passSecond();
    const { msg, leftOut } = linesOf(store).at(-1);
    assert.deepEqual([msg, leftOut], ['further requests were not logged one by one', 30]);
  }
  passSecond();
  assert.equal(store.log.length, 22, 'no line reports zero omitted lines');
  assert.match(await store.metrics(), /^petstore_log_lines_dropped_total\{reason="repeated"\} 60$/m);
});

test('unreadable requests are also sampled in the log', async (t) => {
  const { store } = await startAtRest(t, { seed: false });
  await store.listen();
  await Promise.all(Array.from({ length: 25 }, () => exchange(store, 'NONSENSE\r\n\r\n')));
  await store.app.close();
  assert.equal(answered(store).length, 10);
  assert.equal(linesOf(store).at(-1).leftOut, 15, 'reported at the end');
});

test('the samples of all addresses together are bounded', async (t) => {
  const { store, passSecond } = await startAtRest(t, { trustProxy: true, seed: false });
  const from = (i: number) => ({ key: null, headers: { 'x-forwarded-for': `10.0.${i >> 8}.${i & 255}` } });
  await repeat(300, (i) => store.call('GET', '/pets', from(i)));
  assert.equal(answered(store).length, 100);
  passSecond();
  assert.equal(linesOf(store).at(-1).leftOut, 200);
});

test('the log has every request that was admitted for a key, and samples of its refused ones', async (t) => {
  const { store, passSecond } = await startAtRest(t);
  const { key } = await store.addKey('enterprise', { perMinute: 50, perDay: 100 });
  await repeat(90, () => store.call('GET', '/pets?x=1', { key }));
  passSecond();
  const statuses = Map.groupBy(answered(store), ({ status }) => status);
  assert.equal(statuses.get(400)?.length, 50);
  assert.equal(statuses.get(429)?.length, 10);
  assert.equal(linesOf(store).at(-1).leftOut, 30);
});

test('every failure of an admitted request is logged, and other failures are sampled', async (t) => {
  const { store, passSecond } = await startAtRest(t);
  await store.call('GET', '/pets/1');
  await store.db.write((sql) => sql`alter table pets rename column name to label`);
  await store.db.write((sql) => sql`alter table workspaces rename to places`);
  await repeat(15, () => store.call('GET', '/pets/1'));
  await repeat(15, () => store.send('GET', '/readyz', { key: null }));
  passSecond();
  const failed = linesOf(store).filter(({ msg }) => msg === 'failed');
  assert.equal(failed.length, 15 + 10);
  assert.ok(
    linesOf(store).some(
      ({ msg, leftOut }) => msg === 'further failures were not logged one by one' && leftOut === 5,
    ),
  );
});

test('the reason of a refusal is in the log of level debug, and never in the response', async (t) => {
  const store = await startPetstore(t, { logLevel: 'debug' });
  for (const [method, path, body, cause] of [
    ['POST', '/pets', '{"name"', /SyntaxError: .*JSON/],
    ['POST', '/pets', { name: 'Rex', categoryId: 4711 }, /ForeignKeyError|foreign key/i],
    ['GET', '/pets?status=%', undefined, /URIError: URI malformed/],
  ] as const) {
    const answer = await store.call(method, path, { body });
    assert.equal(answer.status, 400);
    const lines = store.log.map((line) => JSON.parse(line));
    const refused = lines.find(
      ({ msg, reqId }) => msg === 'refused' && reqId === answer.headers['x-request-id'],
    );
    assert.match(refused.err.stack, cause);
    assert.doesNotMatch(answer.text, /foreign|URIError|SyntaxError/i);
  }
});
