import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crash } from '../support/crash/rounds.ts';

test('after kill -9 under load acknowledged writes are kept and delivered; other writes are complete or absent', async (t) => {
  for await (const { answered, unanswered, received } of crash(t, 2, 20_261_121)) {
    assert.ok(answered > 0 && unanswered > 0 && received > 0, 'the service was ended while it worked');
  }
});
