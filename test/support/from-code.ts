import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { operations } from '../../src/api/operations.ts';
import { type Access, type PetstoreServer, type StartOptions, startPetstore } from '../../src/index.ts';
import { type CallOptions, fetchChecked, type JsonAnswer } from './petstore.ts';

/** A store started from code. It stops with the test. */
export async function startFromCode(t: TestContext, options: StartOptions = {}): Promise<PetstoreServer> {
  const store = await startPetstore(options);
  t.after(() => store.stop());
  return store;
}

type Asked = Pick<PetstoreServer, 'baseUrl'> & Access;

/** Sends a request over the store's socket, and checks the response against the description. */
export const call = (
  { baseUrl, key }: Asked,
  method: string,
  path: string,
  options: CallOptions & { key?: string; start?: string } = {},
): Promise<JsonAnswer> => fetchChecked(baseUrl.replace(/\/v1$/, ''), method, path, { key, ...options });

/** The responses of all GET operations without parameters, except streams. */
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
