import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPetstore } from './support/petstore.ts';

test('a recording keeps what its key sends and gets, and what another key sends it does not', async (t) => {
  const petstore = await startPetstore(t);
  const other = await petstore.addKey('pro');
  await petstore.call('GET', '/pets');
  const {
    body: recording,
    status,
    headers,
  } = await petstore.send('POST', '/lab/recordings', {
    body: { name: 'my client', expiresInSeconds: 600 },
  });
  assert.equal(status, 201);
  assert.equal(headers.location, `http://localhost:8080/lab/recordings/${recording.id}`);

  await petstore.call('GET', '/pets?limit=1');
  await petstore.call('GET', '/pets', { key: other.key });
  const order = { petId: 1, quantity: 1 };
  await petstore.call('POST', '/store/orders', { body: order, headers: { 'User-Agent': 'mine/1' } });
  await petstore.call('POST', '/store/orders', { body: order });
  await petstore.call('DELETE', '/pets/999999');

  const { body: requests } = await petstore.send('GET', `/lab/recordings/${recording.id}/requests`);
  assert.deepEqual(requests.length, 4);
});
