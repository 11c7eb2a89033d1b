import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labOperations } from '../../src/lab/petstore/petstore-api.ts';
import { startPetstore } from '../support/petstore.ts';

test('each operation refuses an id with the null character, which PostgreSQL cannot store', async (t) => {
  const store = await startPetstore(t);
  const withId = labOperations.filter(({ path }) => path.includes('{'));
  assert.ok(withId.length >= 10);
  for (const { method, path } of withId) {
    const answer = await store.send(method, `/lab${path.replace(/\{\w+\}/, 'a%00b')}`);
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], `${method} ${path}`);
    assert.match(
      answer.body.message,
      /Id must be a string of at most 64 characters, without the null character/,
    );
  }
});
