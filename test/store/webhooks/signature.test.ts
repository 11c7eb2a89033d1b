import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { InstallationKey } from '../../../src/foundation/settings/secret-key.ts';
import { type SignedMessage, signedHeaders } from '../../../src/store/webhooks/signature.ts';
import { pinnedTool, testTool } from '../../../tools/support/tool.ts';

const installation = new InstallationKey(randomBytes(32).toString('hex'));
const body = JSON.stringify({ id: 1, type: 'pet.created', data: { name: 'Rex — “Ğ” 🐶' } });
const message = (): SignedMessage => ({ id: installation.messageId('test', 1), atMs: Date.now(), body });

/** Whether the reference library verifies the message. */
function isVerified(secret: string, text: string, headers: Record<string, string>): boolean {
  try {
    return Boolean(new Webhook(secret).verify(text, headers));
  } catch {
    return false;
  }
}

testTool(
  pinnedTool(
    'Standard Webhooks for JavaScript',
    'standard-webhooks/standard-webhooks',
    'Receives',
    'standardwebhooks',
  ),
  {
    called: '`new Webhook(secret).verify` on signed messages',
    asserts: 'It accepts our signatures and rejects changed messages.',
    runs: false,
  },
  () => {
    const secret = installation.derive(installation.newSalt());
    const headers = signedHeaders(message(), [secret]);
    assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
    assert.ok(!isVerified(installation.derive(installation.newSalt()), body, headers));
    assert.ok(!isVerified(secret, body.replace('Rex', 'Max'), headers));
    assert.ok(!isVerified(secret, body, { ...headers, 'webhook-id': installation.messageId('test', 2) }));
    const later = String(Number(headers['webhook-timestamp']) + 1);
    assert.ok(!isVerified(secret, body, { ...headers, 'webhook-timestamp': later }));
  },
);

test('the signature equals the example of the specification, by the reference library too', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const [id, body] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', '{"test": 2432232314}'];
  assert.deepEqual(signedHeaders({ id, atMs: 1_614_265_330_999, body }, [secret]), {
    'webhook-id': id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
  const byReference = new Webhook(secret).sign(id, new Date(1_614_265_330_000), body);
  assert.equal(byReference, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});
