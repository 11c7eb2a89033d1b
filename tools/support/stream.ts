import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { startDemonstration } from './demonstration.ts';
import { runProgram } from './program.ts';

/** What `assertReads` asserts. */
export const streamAsserts =
  'It continues after the last event that it knows, and reads each event that follows.';

/**
 * Lets a program read the stream after the event with the id 1 until it has the one with the id 4. It prints the id and the type of
 * each event.
 */
export async function assertReads(t: TestContext, program: string[]): Promise<string> {
  const { description, freshKey } = await startDemonstration(t);
  const baseUrl = JSON.parse(readFileSync(description, 'utf8')).servers[0].url;
  const key = await freshKey();
  const place = () =>
    fetch(`${baseUrl}/store/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"petId":13,"quantity":1}',
    });
  assert.equal((await place()).status, 201);
  const env = { ...process.env, PETSTORE_BASE_URL: baseUrl, PETSTORE_API_KEY: key };
  const output = runProgram(program, '', { env });
  // This one comes while the program reads, or shortly before.
  assert.equal((await place()).status, 201);
  const lines = (await output).split('\n').slice(0, 3);
  assert.deepEqual(lines, ['2 order.placed', '3 inventory.updated', '4 order.placed']);
  return `${lines.length} events`;
}
