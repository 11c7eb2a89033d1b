import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type ErrorCode, errorCodes } from '../../src/foundation/errors.ts';
import { type CallOptions, type Petstore, startPetstore } from './petstore.ts';

/** A request that must be refused: its code, if it is not `invalid_request`, and a pattern for the message. */
export type Refusal = [
  method: string,
  path: string,
  options: CallOptions,
  ...([ErrorCode, RegExp] | [ErrorCode | RegExp]),
];

export const pet = (fields: object): CallOptions => ({ body: { name: 'Zed', categoryId: 1, ...fields } });
export const raw = (body: string | Uint8Array, headers?: Record<string, string>): CallOptions => ({
  body,
  ...(headers && { headers }),
});
export const repeat = (text: string, count: number) => text.repeat(count);

/** A test for each row: the response matches the row, shows no internals, and the store is unchanged. */
export function testRefusals(rows: readonly Refusal[]): void {
  let store: Petstore;
  before(async (t) => {
    store = await startPetstore(t as never);
  });

  for (const row of rows) {
    const [method, path, options, ...expected] = row;
    const code = expected.find((one) => typeof one === 'string') ?? 'invalid_request';
    const says = expected.find((one) => one instanceof RegExp) ?? /./;
    const [status] = errorCodes[code];
    const sent = typeof options.body === 'string' ? options.body : JSON.stringify(options.body ?? '');
    const shown = `${path} ${sent} ${options.headers ? JSON.stringify(options.headers) : ''}`.slice(0, 110);
    test(`${method} ${JSON.stringify(shown)} gets ${status} ${code}`, async () => {
      const unchanged = await store.content();
      const { body, headers, ...answer } = await store.call(method, path, options);
      assert.equal(answer.status, status, answer.text);
      if (answer.text !== '') assert.equal(body.code, code);
      assert.match(body.message, says);
      assert.doesNotMatch(answer.text, /sqlite|\.ts|node_modules|FST_ERR/i);
      if (status === 401) assert.match(headers['www-authenticate'] as string, /^Bearer/);
      assert.equal(await store.content(), unchanged);
    });
  }
}
