import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptsOf, lanesOf } from '../../../src/lab/recordings/timeline-layout.ts';
import { requests } from '../../grade/grades.ts';

test('attempts at the same request share a lane, with their outcomes and waits', () => {
  const get = { target: '/v1/pets', operation: 'listPets' };
  const post = { method: 'POST', target: '/v1/pets', operation: 'createPet', status: 201 };
  const date = { 'retry-after': 'Mon, 01 Jun 2026 12:00:05 GMT' };
  const sent = (...given: Parameters<typeof requests>) => attemptsOf(requests(...given));
  const lanes = lanesOf(
    sent(
      { atMs: 0, ...get },
      { atMs: 10, ...post, isCut: true, fault: 'reset' },
      { atMs: 20, ...post },
      { atMs: 30, ...post, status: 503, answerHeaders: { 'retry-after': '2' } },
      // Another pet, which is created at the same time.
      { atMs: 34, ...post, status: 503 },
      { atMs: 2_040, ...post, gapMs: 2_007, retryOf: '4' },
      { atMs: 2_050, ...get, gapMs: 2_047 },
      { atMs: 3_000, ...get, target: '/v1/pets?limit=1', fault: 'truncated' },
      { atMs: 3_997, ...get, target: '/v1/pets?limit=2', status: 429, answerHeaders: date },
      { atMs: 4_000, ...get, target: '/v1/pets?limit=3', left: true },
    ),
    12,
  );
  const words = (some: typeof lanes) =>
    some.map(({ label, attempts }) => `${label}: ${attempts.map(({ word }) => word).join(' ')}`);
  assert.deepEqual(words(lanes), [
    ...['GET /v1/pets: 200 200', 'POST /v1/pets: cut off', 'POST /v1/pets: 201', 'POST /v1/pets: 503 201'],
    ...['POST /v1/pets: 503', 'GET /v1/pets?limit=1: cut off', 'GET /v1/pets?limit=2: 429'],
    'GET /v1/pets?limit=3: aborted',
  ]);
  const [refused, retried] = lanes[3]?.attempts ?? [];
  assert.deepEqual([refused?.waitUntilMs, refused?.before], [2_033, undefined]);
  assert.deepEqual([retried?.waitUntilMs, retried?.before?.word], [undefined, '503']);
  assert.equal(lanes[6]?.attempts[0]?.waitUntilMs, 5_000);
  const five = Array.from({ length: 5 }, (_, i) => ({ atMs: i, ...get, operation: `o${i}` }));
  assert.deepEqual(words(lanesOf(sent(...five), 3)), [
    ...['GET /v1/pets: 200', 'GET /v1/pets: 200', '3 other requests: 200 200 200'],
  ]);
});
