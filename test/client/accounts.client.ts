import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountsOperations } from '../../src/accounts/operations.ts';
import { answerOf, createAccounts, createPetstore } from '../../src/client/index.ts';
import { platformClock } from '../../src/client/platform.ts';
import { newInvite } from '../support/accounts.ts';
import { answer, cut, refusal, startScripted } from '../support/scripted-server.ts';
import { until } from '../support/until.ts';
import { numbers } from '../support/values.ts';
import { startReal } from './real-store.ts';

test('a program gets a key, changes its plan and its secret, and deletes its account', async (t) => {
  const { store, access } = await startReal(t);
  const { code } = await newInvite(store, { upgrades: ['free', 'pro'] });
  const accountsOf = (apiKey?: string) => createAccounts({ ...access, apiKey });
  const { key, plan, workspace } = await accountsOf().createAccount({ invite: code, name: 'Ada' });
  const accounts = accountsOf(key);
  const names = [...accountsOperations.map(({ id }) => id), 'request'];
  assert.deepEqual(Object.keys(accounts).sort(), names.sort());
  const own = await accounts.getOwnAccount();
  assert.deepEqual(
    [own.plan, own.workspace, own.upgrades, own.canDelete],
    [plan, workspace, ['free', 'pro'], true],
  );
  assert.equal((await accounts.changePlan({ plan: 'pro' })).minute.limit, 300);
  const changed = await accounts.changeKey({});
  const renewed = accountsOf(changed.key);
  assert.equal((await renewed.getOwnAccount()).oldKeyUntil, changed.oldKeyUntil);
  assert.equal((await renewed.changeKey({ revokeOldNow: true })).key, undefined);
  await assert.rejects(accounts.getOwnAccount(), { code: 'unauthorized' });
  await renewed.deleteOwnAccount();
  await assert.rejects(renewed.getOwnAccount(), { code: 'unauthorized' });
});

test('a program that is limited as Free changes to Pro while it is refused, and goes on', async (t) => {
  const { store, access, clock } = await startReal(t);
  const { code } = await newInvite(store, { upgrades: ['free', 'pro'] });
  const { key: apiKey = '' } = await createAccounts({ ...access, apiKey: undefined }).createAccount({
    ...{ invite: code, name: 'Ada' },
  });
  const options = { ...access, apiKey, maxWaitMs: 0 };
  const limitOf = async (store: ReturnType<typeof createPetstore>) => {
    const headers = answerOf(await store.getCategory(1))?.headers;
    return ['limit', 'remaining'].map((name) => Number(headers?.get(`x-ratelimit-${name}`)));
  };
  const free = createPetstore(options);
  for (const left of numbers(60).reverse()) assert.deepEqual(await limitOf(free), [60, left - 1]);
  const startedAtMs = clock.now();
  await assert.rejects(limitOf(free), { code: 'rate_limited' });
  await createAccounts(options).changePlan({ plan: 'pro' });
  assert.deepEqual(await limitOf(createPetstore(options)), [300, 239]);
  assert.equal(clock.now(), startedAtMs);
});

test('a change of the plan ends the wait of all clients of the key, in flight or refused, and not that of others', async (t) => {
  const { store, access } = await startReal(t);
  const clock = { now: () => store.nowMs, sleep: platformClock.sleep };
  const member = async () => {
    const { code } = await newInvite(store, { upgrades: ['free', 'pro'] });
    return (
      await createAccounts({ ...access, apiKey: undefined }).createAccount({ invite: code, name: 'Ada' })
    ).key;
  };
  const [apiKey, other] = [await member(), await member()];
  const waits: string[] = [];
  const clientOf = (apiKey: string, more = {}) => {
    const onRetry = ({ waitMs }: { waitMs: number }) => void waits.push(`${apiKey} ${waitMs >= 50_000}`);
    return createPetstore({ ...access, apiKey, clock, onRetry, ...more });
  };
  const [first, second, third] = [clientOf(apiKey), clientOf(apiKey), clientOf(other)];
  const impatient = clientOf(apiKey, { maxWaitMs: 0 });
  for (const client of [first, third]) for (const _ of numbers(60)) await client.getCategory(1);
  await assert.rejects(impatient.getCategory(1), { code: 'rate_limited' });
  const controller = new AbortController();
  const stays = third.getCategory(1, { signal: controller.signal }).catch((error) => error.name);
  // The first knows that nothing is left, and the second asks.
  const waiting = [first.getCategory(1), first.getCategory(2), second.getCategory(1), second.getCategory(2)];
  await until(() => waits.length >= 2);
  await createAccounts({ ...access, clock, apiKey }).changePlan({ plan: 'pro' });
  assert.equal((await Promise.all(waiting)).length, 4);
  assert.equal((await impatient.getCategory(1)).id, 1);
  controller.abort();
  assert.equal(await stays, 'AbortError');
  assert.deepEqual(new Set(waits), new Set([`${apiKey} true`]));
});

test('without a key none is sent, and all attempts have one unguessable Idempotency-Key', async (t) => {
  const { baseUrl, clock, got } = await startScripted(t, [cut, answer(201, { key: 'pet_new' })]);
  const accounts = createAccounts({ baseUrl, clock });
  assert.equal((await accounts.createAccount({ name: 'Ada' })).key, 'pet_new');
  const [first, second] = got.map(({ headers }) => headers);
  assert.equal(first?.authorization, undefined);
  assert.match(String(first?.['idempotency-key']), /^.{32,}$/);
  assert.equal(second?.['idempotency-key'], first?.['idempotency-key']);
});

test('401 after a lost response to a deletion means that it is done', async (t) => {
  const unauthorized = refusal(401, 'unauthorized');
  const { baseUrl, clock } = await startScripted(t, [
    cut,
    unauthorized,
    unauthorized,
    unauthorized,
    unauthorized,
  ]);
  const accounts = createAccounts({ baseUrl, clock, apiKey: 'pet_secret' });
  assert.equal(await accounts.deleteOwnAccount(), undefined);
  await assert.rejects(accounts.deleteOwnAccount(), { code: 'unauthorized' });
});
