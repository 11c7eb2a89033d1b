import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { parseExactly, verifyWebhook } from '../../src/client/index.ts';

const secret = `whsec_${Buffer.from('a secret of twenty-four.').toString('base64')}`;
const older = `whsec_${Buffer.from('another of twenty-four..').toString('base64')}`;
const body =
  '{"id":9007199254740993,"type":"pet.created","timestamp":"2026-06-01T12:00:00.000Z","data":{"id":1,"name":"Žofie 🐉","categoryId":1}}';
const at = new Date('2026-06-01T12:00:00Z');
const now = () => at.getTime() + 20_000;

const signatureBy = (key: string, signed = body) => new Webhook(key).sign('evt_1', at, signed);
const fields = (signature = signatureBy(secret), changed: Record<string, string | undefined> = {}) => ({
  'webhook-id': 'evt_1',
  'webhook-timestamp': `${at.getTime() / 1_000}`,
  'webhook-signature': signature,
  ...changed,
});
const isBad = { name: 'PetstoreError', code: 'bad_signature' };

test('messages signed by the library of Standard Webhooks are verified, with all kinds of header fields and bodies', async () => {
  const event = parseExactly(body);
  const plain = fields();
  const capitalized = Object.fromEntries(
    Object.entries(plain).map(([name, value]) => [name.toUpperCase(), [value]]),
  );
  for (const header of [plain, new Headers(plain), capitalized])
    assert.deepEqual(await verifyWebhook(body, header, secret, { now }), event);
  const bytes = new TextEncoder().encode(body);
  assert.deepEqual(await verifyWebhook(Buffer.from(bytes), plain, secret, { now }), event);
  assert.deepEqual(await verifyWebhook(bytes.buffer, plain, secret, { now }), event);
});

test('during a rotation of the secret both secrets verify', async () => {
  const both = fields(`v2,AAAA ${signatureBy(older)} v1a,AAAA ${signatureBy(secret)}`);
  for (const key of [secret, older])
    assert.equal((await verifyWebhook(body, both, key, { now })).type, 'pet.created');
});

test('changed, old, incomplete and wrongly signed messages are refused', async () => {
  const seconds = at.getTime() / 1_000;
  const long = createHmac('sha256', 'x').update(body).digest('base64');
  for (const [text, header] of [
    [body.replace('Žofie', 'Mallory'), fields()],
    [body, fields(signatureBy(older))],
    [body, fields(signatureBy(secret).slice(0, -4))],
    [body, fields(`v1,${long}`)],
    [body, fields('v1,***')],
    [body, fields('v1')],
    [body, fields(signatureBy(secret).replace('v1,', 'v2,'))],
    [body, fields(`${'v1,AAAA '.repeat(10)}${signatureBy(secret)}`)],
    [body, fields(undefined, { 'webhook-id': 'evt_2' })],
    [body, fields(undefined, { 'webhook-timestamp': `${seconds + 1}` })],
    [body, fields(undefined, { 'webhook-timestamp': `${seconds}.0` })],
    [body, fields(undefined, { 'webhook-timestamp': 'now' })],
    [body, fields(undefined, { 'webhook-signature': undefined })],
  ] as const)
    await assert.rejects(verifyWebhook(text, header, secret, { now }), isBad);
  for (const ms of [-301_000, 301_000])
    await assert.rejects(verifyWebhook(body, fields(), secret, { now: () => at.getTime() + ms }), isBad);
  assert.ok(
    await verifyWebhook(body, fields(), secret, {
      now: () => at.getTime() + 900_000,
      toleranceSeconds: 1_000,
    }),
  );
});

test('an invalid secret or tolerance is an error that does not show the secret', async () => {
  for (const wrong of ['', 'whsec_', 'whsec_se*ret', 'se-ret', undefined, null])
    await assert.rejects(verifyWebhook(body, fields(), wrong as string, { now }), {
      name: 'TypeError',
      message: /^The secret must be the whsec_… /,
    });
  for (const toleranceSeconds of [Number.NaN, -1])
    await assert.rejects(verifyWebhook(body, fields(), secret, { now, toleranceSeconds }), {
      name: 'TypeError',
      message: /^toleranceSeconds /,
    });
  await assert.rejects(verifyWebhook(body, fields(), secret, { now: () => Number.NaN }), isBad);
});

test('a genuine message that is not JSON is an error', async () => {
  const header = fields(signatureBy(secret, 'no'));
  await assert.rejects(verifyWebhook('no', header, secret, { now }), { code: 'unexpected_answer' });
});
