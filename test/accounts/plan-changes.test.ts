import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setPlan } from '../../src/access/keys/store.ts';
import type { Transaction, WriteContext } from '../../src/db/database.ts';
import type { OpenPlan, Plan } from '../../src/foundation/settings/plans.ts';
import { newMember, signedUp } from '../support/accounts.ts';
import { remaining, times } from '../support/limits.ts';
import { addKeyOf, changeKey, changePlan, deleteOwn, ownAccount } from '../support/own-account.ts';
import { ample, type Petstore, startPetstore } from '../support/petstore.ts';
import { openStream, type Reader } from '../support/streams.ts';
import { until } from '../support/until.ts';
import { statusesOf } from '../support/values.ts';

const ask = (store: Petstore, key: string) => () => store.call('GET', '/pets/1', { key });

/** The limit and what remains of it, in the headers of the next request. */
const shown = async (store: Petstore, key: string) => {
  const answer = await ask(store, key)();
  return [answer.status, Number(answer.headers['x-ratelimit-limit']), remaining(answer)];
};

test('a client that Free limits upgrades while it waits, and goes on in the same minute with what Pro leaves', async (t) => {
  const store = await startPetstore(t);
  const { key } = await newMember(store, { upgrades: ['free', 'pro'] });
  await times(60, ask(store, key));
  const refused = await ask(store, key)();
  assert.equal(refused.status, 429);
  assert.equal(
    refused.body.message,
    'The limit of 60 requests per minute is used up. Try again after 60 s. GET /accounts/me shows to which plans this key can change. For other limits, ask the operator of the service.',
  );
  const { upgrades } = await ownAccount(store, key);
  assert.deepEqual(upgrades, ['free', 'pro']);
  const { status, body } = await changePlan(store, key, 'pro');
  assert.deepEqual([status, body.plan, body.minute.limit, body.minute.remaining], [200, 'pro', 300, 240]);
  assert.deepEqual(await shown(store, key), [200, 300, 239]);
  assert.deepEqual(statusesOf(await times(241, ask(store, key))), [...Array(239).fill(200), 429, 429]);
});

test('the message of a 429 says how to get more: whom to ask, and to an address that keys have their own limits', async (t) => {
  const store = await startPetstore(t, { accounts: { contact: 'sales@pets.example' } });
  const { key } = await newMember(store);
  const ofKey = (await times(61, ask(store, key))).at(-1);
  assert.match(ofKey?.body.message, /For other limits, ask sales@pets\.example\.$/);
  const ofAddress = (await times(61, () => store.call('GET', '/pets', { key: null }))).at(-1);
  assert.match(ofAddress?.body.message, /Try again after 60 s\. Each valid API key has limits of its own\.$/);
  const ofLab = (await times(601, () => store.send('GET', '/lab/account', { key }))).at(-1);
  assert.match(
    ofLab?.body.message,
    /^The limit of 600 requests per minute is used up\. Try again after 60 s\.$/,
  );
});

test('after a downgrade nothing remains, never less than nothing, until the window ends', async (t) => {
  const store = await startPetstore(t);
  const { key } = await newMember(store, { plan: 'pro', upgrades: ['free', 'pro'] });
  await times(100, ask(store, key));
  const { body } = await changePlan(store, key, 'free');
  assert.deepEqual([body.minute.limit, body.minute.remaining, body.day.remaining], [60, 0, 900]);
  assert.deepEqual(await shown(store, key), [429, 60, 0]);
  store.nowMs += 60_000;
  assert.deepEqual(await shown(store, key), [200, 60, 59]);
});

test('strikes are judged at the next refusal, by the new plan, and a ban stays', async (t) => {
  const store = await startPetstore(t);
  const down = await newMember(store, { plan: 'pro', upgrades: ['free', 'pro'] });
  await times(300 + 100, ask(store, down.key));
  assert.equal((await changePlan(store, down.key, 'free')).body.strikes, 100);
  assert.equal((await ownAccount(store, down.key)).ban.since, undefined, 'the change itself bans nobody');
  assert.equal((await ask(store, down.key)()).body.code, 'key_banned');
  const { ban } = (await changePlan(store, down.key, 'pro')).body;
  assert.equal(ban.until, '2026-06-01T12:01:00.000Z');
  assert.equal((await ask(store, down.key)()).body.code, 'key_banned', 'an upgrade does not end it');

  const up = await newMember(store, { upgrades: ['free', 'pro'] });
  await times(60 + 60, ask(store, up.key));
  assert.equal((await changePlan(store, up.key, 'pro')).status, 200);
  const more = statusesOf(await times(240 + 240, ask(store, up.key)));
  assert.deepEqual(more, [...Array(240).fill(200), ...Array(240).fill(429)], '60 of 300 strikes were there');
  assert.equal((await ask(store, up.key)()).body.code, 'key_banned');
});

test('an upgrade that races many refused requests: the ban began before it, or no request is banned after it', async (t) => {
  const store = await startPetstore(t);
  for (let round = 0; round < 5; round++) {
    const { key } = await newMember(store, { upgrades: ['free', 'pro'] });
    await times(60 + 40 + round, ask(store, key));
    const [change] = await Promise.all([
      changePlan(store, key, 'pro'),
      ...Array.from({ length: 25 }, ask(store, key)),
    ]);
    assert.equal(change.status, 200);
    const { ban } = await ownAccount(store, key);
    const after = statusesOf(await times(20, ask(store, key)));
    assert.deepEqual(new Set(after), new Set([ban.since === undefined ? 200 : 403]));
  }
});

suite('which plans are open', () => {
  for (const [who, plan, expected, options] of [
    ['the demo key', 'free', ['free', 'pro', 'business'], {}],
    ['the demo key, with a setting', 'free', ['free', 'pro'], { upgrades: ['free', 'pro'] }],
    ['the demo key, with a setting without its plan', 'business', [], { upgrades: ['free', 'pro'] }],
    ["an operator's key", 'free', [], { upgrades: ['free', 'pro'] }],
    ['a sign-up', 'free', ['free', 'pro'], {}],
    ['a sign-up, with a setting', 'free', ['free', 'business'], { upgrades: ['free', 'business'] }],
    ['a sign-up, with a setting without its plan', 'free', ['free', 'business'], { upgrades: ['business'] }],
    ['a sign-up, with none', 'free', [], { upgrades: [] }],
    ['a member', 'free', ['free', 'pro'], { upgrades: ['business'] }],
    ['a member without upgrades', 'free', [], {}],
  ] as [string, OpenPlan, OpenPlan[], { upgrades?: OpenPlan[] }][]) {
    test(`${who} on ${plan} may change to ${expected.join() || 'nothing'}`, async (t) => {
      const store = await startPetstore(t, {
        accounts: { signUp: true, ...options, contact: 'sales@pets.example' },
      });
      const { key } = await (who.startsWith('the demo')
        ? addKeyOf(store, plan, 'demo')
        : who.startsWith('an operator')
          ? addKeyOf(store, plan)
          : who.startsWith('a member')
            ? newMember(store, { upgrades: expected })
            : signedUp(store));
      assert.deepEqual((await ownAccount(store, key)).upgrades, expected);
      const others = (['free', 'pro', 'business', 'enterprise'] as Plan[]).filter((other) => other !== plan);
      for (const other of others) {
        const { status, body } = await changePlan(store, key, other);
        if (expected.some((open) => open === other)) {
          assert.deepEqual([status, body.plan], [200, other]);
          assert.equal((await changePlan(store, key, plan)).status, 200);
        } else {
          assert.deepEqual([status, body.code], [403, 'plan_by_agreement']);
          assert.match(body.message, /For another plan, ask sales@pets\.example\.$/);
        }
      }
      assert.equal((await changePlan(store, key, plan)).status, 200, 'its own plan is no change');
      assert.equal((await ownAccount(store, key)).plan, plan);
    });
  }

  test('a key on enterprise cannot leave it, since there is no way back', async (t) => {
    const store = await startPetstore(t);
    const { key, keyId } = await newMember(store, { upgrades: ['free', 'pro'] });
    await store.db.write((sql) => setPlan(sql, keyId, 'enterprise', ample));
    store.app.startOver();
    assert.deepEqual((await ownAccount(store, key)).upgrades, []);
    assert.equal((await changePlan(store, key, 'pro')).body.code, 'plan_by_agreement');
  });

  test('what is no plan gets 400 that names the plans', async (t) => {
    const store = await startPetstore(t);
    const { key } = await newMember(store, { upgrades: ['free', 'pro'] });
    for (const wrong of ['gold', 'Pro', 1, null, undefined, ['pro']]) {
      const { status, body } = await changePlan(store, key, wrong);
      assert.deepEqual([status, body.code], [400, 'invalid_request']);
      assert.match(body.message, /plan/);
    }
  });
});

test('a key changes its plan ten times in an hour; refused changes and changes to its own plan are not counted', async (t) => {
  const store = await startPetstore(t);
  store.nowMs += 59 * 60_000;
  const { key } = await newMember(store, { upgrades: ['free', 'pro'] });
  for (let i = 0; i < 5; i++) {
    assert.equal((await changePlan(store, key, 'business')).status, 403);
    assert.equal((await changePlan(store, key, 'pro')).status, 200);
    assert.equal((await changePlan(store, key, 'pro')).status, 200);
    assert.equal((await changePlan(store, key, 'free')).status, 200);
  }
  const { status, headers, body } = await changePlan(store, key, 'pro');
  assert.deepEqual([status, body.code, headers['retry-after']], [429, 'rate_limited', '60']);
  assert.equal((await ownAccount(store, key)).plan, 'free');
  store.nowMs += 60_000;
  assert.equal((await changePlan(store, key, 'pro')).status, 200);
});

test('an Idempotency-Key makes a change of plan once, and its repetition returns the first response', async (t) => {
  const store = await startPetstore(t);
  const { key } = await newMember(store, { upgrades: ['free', 'pro'] });
  const again = { 'Idempotency-Key': 'upgrade-1' };
  const first = await changePlan(store, key, 'pro', again);
  await changePlan(store, key, 'free');
  const repeated = await changePlan(store, key, 'pro', again);
  assert.deepEqual([repeated.status, repeated.text], [200, first.text]);
  assert.equal(repeated.headers['idempotency-replayed'], 'true');
  assert.equal((await ownAccount(store, key)).plan, 'free');
});

test('calls about the account are not charged to the plan, also while it is used up, and each change is logged with the id of the key', async (t) => {
  const store = await startPetstore(t);
  const { key, keyId } = await newMember(store, { upgrades: ['free', 'pro'] });
  await ownAccount(store, key);
  const { headers } = await changePlan(store, key, 'pro');
  assert.equal(headers['x-ratelimit-limit'], '600');
  assert.deepEqual(await shown(store, key), [200, 300, 299]);
  const lines = store.log.filter((line) => line.includes('changed its plan'));
  assert.equal(lines.length, 1);
  assert.partialDeepStrictEqual(JSON.parse(lines[0] as string), { keyId, before: 'free', plan: 'pro' });
});

test('without the lab the account, a change of plan, a new secret and a deletion work, too', async (t) => {
  const store = await startPetstore(t, { lab: false });
  const { key } = await newMember(store, { upgrades: ['free', 'pro'] });
  assert.equal((await ownAccount(store, key)).plan, 'free');
  assert.equal((await changePlan(store, key, 'pro')).status, 200);
  const { body } = await changeKey(store, key);
  assert.equal((await deleteOwn(store, body.key)).status, 204);
});

test('after a downgrade open streams and webhooks stay, and the new plan counts when another is opened', async (t) => {
  const store = await startPetstore(t);
  const origin = await store.listen();
  const { key } = await newMember(store, { plan: 'pro', upgrades: ['free', 'pro'] });
  const add = (i: number) =>
    store.call('POST', '/store/webhooks', { key, body: { url: `http://127.0.0.1:9/${i}` } });
  for (let i = 0; i < 4; i++) assert.equal((await add(i)).status, 201);
  const readers: Reader[] = [];
  for (let i = 0; i < 4; i++) readers.push(await openStream(t, origin, { key }));
  assert.equal((await changePlan(store, key, 'free')).body.openStreams, 4);
  const refused = await add(4);
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict']);
  assert.equal((await store.call('GET', '/store/webhooks', { key })).body.length, 4);
  assert.equal((await ownAccount(store, key)).openStreams, 4);
  await openStream(t, origin, { key });
  await until(async () => (await ownAccount(store, key)).openStreams === 2);
  await until(() => readers.filter(({ ended }) => ended === 'whole').length === 3);
});

type Work = (sql: Transaction) => Promise<unknown>;

test('no transaction waits for limits, which may be in Valkey', async (t) => {
  const store = await startPetstore(t);
  const { db, limiter } = store;
  let writing = 0;
  const write = db.write.bind(db) as (work: Work, context?: WriteContext) => Promise<unknown>;
  const counted = (work: Work, context?: WriteContext) =>
    write(async (sql) => {
      writing++;
      return work(sql).finally(() => writing--);
    }, context);
  db.write = counted as typeof db.write;
  const find = limiter.find.bind(limiter);
  let found = 0;
  limiter.find = (subject) => {
    assert.equal(writing, 0);
    found++;
    return find(subject);
  };
  const { key } = await newMember(store, { upgrades: ['free', 'pro'] });
  assert.equal((await changePlan(store, key, 'pro')).status, 200);
  assert.equal((await changeKey(store, key)).status, 201);
  const { key: other } = await newMember(store);
  assert.equal((await deleteOwn(store, other)).status, 204);
  assert.equal(found, 2);
});

test('the log says which plan a key had, whatever an instance has cached', async (t) => {
  const store = await startPetstore(t);
  const { key, keyId } = await newMember(store, { upgrades: ['free', 'pro', 'business'] });
  await ask(store, key)();
  await store.db.write((sql) => setPlan(sql, keyId, 'pro', undefined));
  assert.equal((await changePlan(store, key, 'business')).status, 200);
  const [line = ''] = store.log.filter((line) => line.includes('changed its plan'));
  assert.deepEqual([JSON.parse(line).before, JSON.parse(line).plan], ['pro', 'business']);
});
