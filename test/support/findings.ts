import assert from 'node:assert/strict';
import { checks } from '../../src/lab/report/checks/all.ts';
import { recorded, type Sketch } from './recorded.ts';

/** Holds what a check finds in requests: its result, and the numbers of the requests that show it. */
export async function finds(name: string, sketches: Sketch[], result: string, numbers: number[] = []) {
  const check = checks.find((one) => one.name === name);
  assert.ok(check);
  const finding = await check.judge(recorded(...sketches));
  assert.equal(finding.result, result, finding.because);
  assert.deepEqual(
    finding.evidence.map(({ number }) => number),
    numbers,
  );
}

export const cut = { status: undefined } as unknown as Omit<Sketch, 'at'>;
export const limited = { status: 429, code: 'rate_limited', answer: { 'retry-after': '2' } };
export const rehearsed = { ...limited, fault: 'rate-limited' };
export const categories = { target: '/v1/categories', operation: 'listCategories' };
export const elsewhere = { connection: 'c2' };
export const post = {
  method: 'POST',
  target: '/v1/categories',
  operation: 'createCategory',
  body: '{"name":"a"}',
};
export const key = (text: string) => ({ headers: { 'idempotency-key': text } });
