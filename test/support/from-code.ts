import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { operations } from '../../src/api/operations.ts';
import { type Access, type PetstoreServer, type StartOptions, startPetstore } from '../../src/index.ts';
import { type CallOptions, fetchChecked, type JsonAnswer } from './petstore.ts';

/** A store as programs start it, which stops with the test. */
export async function startFromCode(t: TestContext, options: StartOptions = {}): Promise<PetstoreServer> {
  const store = await startPetstore(options);
  t.after(() => store.stop());
  return store;
}

type Asked = Pick<PetstoreServer, 'baseUrl'> & Access;

/** Asks a store over its socket, and holds the answer against the description. */
export const call = (
  { baseUrl, key }: Asked,
  method: string,
  path: string,
  options: CallOptions & { key?: string; start?: string } = {},
): Promise<JsonAnswer> => fetchChecked(baseUrl.replace(/\/v1$/, ''), method, path, { key, ...options });

/** What every GET without parameters answers that has no end. */
export async function everyAnswer(store: Asked): Promise<Record<string, unknown>> {
  const plain = operations.filter(
    ({ method, path, success }) => method === 'GET' && !path.includes('{') && success.kind !== 'stream',
  );
  assert.ok(plain.length > 4);
  const answers: Record<string, unknown> = {};
  for (const { path } of plain) {
    const { status, headers, body } = await call(store, 'GET', path);
    answers[path] = { status, body, limits: headers.ratelimit };
  }
  return answers;
}
