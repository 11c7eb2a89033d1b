import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertTouched, rehearsalOf, rehearse } from '../../support/lab.ts';
import { startPetstore } from '../../support/petstore.ts';
import { countDragons, dragons } from '../../support/wire.ts';

const hourMs = 3_600_000;
const pastAt = (nowMs: number) => new Date(nowMs - hourMs).toUTCString();

for (const [shape, expected] of [
  [undefined, () => undefined],
  ['none', () => undefined],
  ['zero', () => '0'],
  ['past', pastAt],
  ['malformed', () => 'soon'],
  ['ten-days', () => '864000'],
  ['thirty-days', () => '2592000'],
] as const)
  test(`retry-after-odd${shape ? `:shape=${shape}` : ''}: 503 once, and nothing is done`, async (t) => {
    const store = await startPetstore(t);
    const rehearsal = await rehearse(store, [{ fault: 'retry-after-odd', ...(shape && { shape }) }]);
    assert.equal(rehearsal.faults[0]?.shape, shape ?? 'none');
    const refused = await store.call('POST', '/categories', dragons);
    assert.deepEqual([refused.status, refused.body.code], [503, 'unavailable']);
    assert.equal(refused.headers['retry-after'], expected(store.nowMs));
    assertTouched(refused, rehearsal, 'retry-after-odd');
    assert.equal(await countDragons(store), 0);
    assert.equal((await store.call('POST', '/categories', dragons)).status, 201);
    assert.equal((await rehearsalOf(store, rehearsal.id)).faults[0]?.performed, 1);
  });

test('a parameter with named values accepts only these, and only for its fault', async (t) => {
  const store = await startPetstore(t);
  const start = (fault: object) => store.send('POST', '/lab/rehearsals', { body: { faults: [fault] } });
  for (const shape of ['tomorrow', 1, '']) {
    const { status, body } = await start({ fault: 'retry-after-odd', shape });
    assert.equal(status, 400, String(shape));
    assert.match(
      body.message,
      /faults\[0\]\.shape must be one of none, zero, past, malformed, ten-days, thirty-days/,
    );
  }
  const other = await start({ fault: 'unavailable', shape: 'past' });
  assert.match(other.body.message, /faults\[0\]\.shape is not a parameter of unavailable/);
});

test('the catalogue lists the values of a parameter, the default first', async (t) => {
  const store = await startPetstore(t);
  const { body } = await store.send('GET', '/lab/faults');
  const parametersOf = (name: string) =>
    body
      .find((fault: { name: string }) => fault.name === name)
      .parameters.map(({ description: _, ...rest }: { description: string }) => rest);
  assert.deepEqual(parametersOf('retry-after-odd'), [
    { name: 'shape', values: ['none', 'zero', 'past', 'malformed', 'ten-days', 'thirty-days'] },
  ]);
  assert.deepEqual(parametersOf('stall'), [
    { name: 'silenceMs', minimum: 1, maximum: 30_000, default: 30_000 },
  ]);
});
