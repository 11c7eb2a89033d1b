import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { freeAtMs, shareConnection } from '../../../src/lab/checks/request-facts.ts';
import { trafficOf } from '../../../src/lab/checks/traffic.ts';
import { petstoreApi } from '../../../src/lab/petstore/petstore-api.ts';
import type { Recorded } from '../../../src/lab/recordings/recorded-request.ts';
import { recorded } from '../../support/recorded.ts';

/** A request with few possible values, so that many overlap: its time, its duration, and its connection. */
const sketch = fc.record({
  at: fc.integer({ min: 0, max: 40 }),
  durationMs: fc.integer({ min: 0, max: 15 }),
  connection: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
});

/** Whether one worker certainly sent both, found by a check of every request. */
function isOfSameWorker(requests: Recorded[], later: Recorded, earlier: Recorded): boolean {
  const [from, to] = [requests.indexOf(earlier), requests.indexOf(later)];
  const others = (index: number) =>
    requests
      .slice(0, index)
      .filter(({ connection }) => connection !== (requests[from] as Recorded).connection);
  if (others(from).some((other) => freeAtMs(other) > earlier.atMs)) return false;
  return requests.slice(from + 1, to + 1).every((other) => shareConnection(other, earlier));
}

test('workers found from a few facts about each request equal those found from all data', () => {
  let several = 0;
  fc.assert(
    fc.property(fc.array(sketch, { minLength: 2, maxLength: 25 }), (sketches) => {
      const inTime = sketches.toSorted((a, b) => a.at - b.at);
      // Each connection has one request at a time.
      const freeMs = new Map<string, number>();
      const apart = inTime.filter(({ at, durationMs, connection }) => {
        const isFree = at >= (freeMs.get(connection) ?? 0);
        if (isFree) freeMs.set(connection, at + durationMs);
        return isFree;
      });
      const requests = recorded(...apart);
      const traffic = trafficOf(requests, petstoreApi);
      const overlaps = requests.some((later, index) =>
        requests.slice(0, index).some((earlier) => later.atMs < freeAtMs(earlier)),
      );
      assert.equal(traffic.isOfOneWorker, !overlaps);
      several += Number(overlaps);
      for (const [index, later] of requests.entries())
        for (const earlier of requests.slice(0, index))
          assert.equal(
            traffic.isOfSameWorker(later, earlier),
            !overlaps || isOfSameWorker(requests, later, earlier),
          );
    }),
    { numRuns: 500 },
  );
  assert.ok(several > 100, String(several));
});
