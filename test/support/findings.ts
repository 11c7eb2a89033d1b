import assert from 'node:assert/strict';
import { findingOf } from '../../src/lab/checks/check.ts';
import type { Expected } from '../../src/lab/checks/expected.ts';
import { checks } from '../../src/lab/checks/list.ts';
import { trafficOf } from '../../src/lab/checks/traffic.ts';
import { petstoreApi } from '../../src/lab/petstore/petstore-api.ts';
import { recorded, type Sketch } from './recorded.ts';

/**
 * Asserts the finding of a check: its result, and the numbers of its evidence requests. `expected`: the requests of the client
 * without faults.
 */
export function finds(
  name: string,
  sketches: Sketch[],
  result: string,
  numbers: number[] = [],
  expected?: Expected,
) {
  const check = checks.find((one) => one.name === name);
  assert.ok(check);
  const finding = findingOf(check, trafficOf(recorded(...sketches), petstoreApi, expected));
  assert.equal(finding.result, result, finding.because);
  assert.deepEqual(
    finding.evidence.map(({ id }) => Number(id)),
    numbers,
  );
  return finding;
}

export const cut = { status: undefined } as unknown as Omit<Sketch, 'at'>;
export const limited = { status: 429, code: 'rate_limited', answerHeaders: { 'retry-after': '2' } };
export const rehearsed = { ...limited, fault: 'rate-limited' };
export const categories = { target: '/v1/categories', operation: 'listCategories' };
export const elsewhere = { connection: 'c2' };
export const post = {
  method: 'POST',
  target: '/v1/categories',
  operation: 'createCategory',
  body: '{"name":"a"}',
};
/** A refusal until a time. */
export const unavailableFor = (seconds: number) => ({
  status: 503,
  answerHeaders: { 'retry-after': String(seconds) },
});
export const bannedFor = (seconds: number) => ({
  ...unavailableFor(seconds),
  status: 403,
  code: 'key_banned',
});
/** A link to the next page of pets. */
export const linkTo = (query: string) => ({
  answerHeaders: { link: `<http://localhost:8080/v1/pets?${query}>; rel="next"` },
});
export const key = (text: string) => ({ headers: { 'idempotency-key': text } });
/** Overlapping requests of two workers, long before the others. */
export const crowd: Sketch[] = [
  { at: -9_000, durationMs: 50, ...categories, connection: 'w1' },
  { at: -8_990, durationMs: 5, ...categories, connection: 'w2' },
];

/** A request at a time, with the properties of all parts. */
export const sent = (at: number, ...parts: Partial<Sketch>[]): Sketch => Object.assign({ at }, ...parts);
