import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountsOperations } from '../../src/accounts/operations.ts';
import { answerOf, createAccounts, createPetstore } from '../../src/client/index.ts';
import { newInvite } from '../support/accounts.ts';
import { answer, cut, refusal, startScripted } from '../support/scripted-server.ts';
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
