import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crash } from '../support/crash/rounds.ts';

test('kill -9 under load: answered writes are kept and told to readers and a webhook, others wholly or not at all', async (t) => {
  for await (const { answered, unanswered, received } of crash(t, 2, 20_261_121)) {
    assert.ok(answered > 0 && unanswered > 0 && received > 0, 'the service was ended while it worked');
  }
});
