import assert from 'node:assert/strict';
import { identifier } from '../../src/db/sql.ts';
import { labOperations } from '../../src/lab/petstore/petstore-api.ts';
import { exampleParams, sampleRequest } from '../../src/reference/description/samples.ts';
import type { Petstore } from './petstore.ts';

/** A kind of lab resource: its path, the path parameter of one, and the columns with its id. */
const begun: [path: string, param: string, columns: [table: string, column: string][]][] = [
  ['/rehearsals', 'rehearsalId', [['rehearsals', 'id']]],
  [
    '/recordings',
    'recordingId',
    [
      ['recordings', 'id'],
      ['recorded_requests', 'recording_id'],
      ['recording_reports', 'recording_id'],
    ],
  ],
];

/** Gives a key the resources in the examples of the lab. All have ended, so they affect nothing later. */
export async function fillLab(store: Petstore, key = store.key): Promise<void> {
  for (const [path, param, columns] of begun) {
    const begin = labOperations.find((operation) => operation.method === 'POST' && operation.path === path);
    const ids = labOperations.flatMap((operation) => exampleParams(operation)[param] ?? []);
    for (const id of new Set(begin && ids)) {
      const made = await make(store, key, path);
      for (const [table, column] of columns) {
        const [name, of] = [identifier(table), identifier(column)];
        await store.db.write((sql) => sql`update ${name} set ${of} = ${id} where ${of} = ${made}`);
      }
    }
  }
}

/** Starts one, records a request in it, and ends it. Returns its id. */
async function make(store: Petstore, key: string, path: string): Promise<string> {
  const find = (method: string, suffix: string) =>
    labOperations.find((one) => one.method === method && one.path.replace(/{\w+}/, '*') === path + suffix);
  const begin = find('POST', '');
  assert.ok(begin, path);
  const { body } = sampleRequest(begin, '');
  const { body: made, status, text } = await store.send('POST', `/lab${path}`, { key, body });
  assert.equal(status, 201, text);
  await store.call('GET', '/pets', { key });
  const [method, end] = find('POST', '/*/end') ? ['POST', '/end'] : ['DELETE', ''];
  const ended = await store.send(method as string, `/lab${path}/${made.id}${end}`, { key });
  assert.equal(ended.status, 200, ended.text);
  assert.equal((await store.send('GET', `/lab${path}/${made.id}`, { key })).status, 200);
  return made.id;
}
