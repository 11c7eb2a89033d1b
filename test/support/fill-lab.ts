import assert from 'node:assert/strict';
import { identifier } from '../../src/db/sql.ts';
import { labOperations } from '../../src/lab/operations.ts';
import { exampleParams, sampleRequest } from '../../src/openapi/samples.ts';
import type { Petstore } from './petstore.ts';

/** What a key begins and ends, with what refers to it: tables and the columns that hold its id. */
const begun: Record<string, [table: string, column: string][]> = {
  '/rehearsals': [['rehearsals', 'id']],
  '/recordings': [
    ['recordings', 'id'],
    ['recorded_requests', 'recording_id'],
  ],
};

/** Gives a key a rehearsal and a recording that are over, with the ids that the examples name. Neither touches what follows. */
export async function fillLab(store: Petstore, key = store.key): Promise<void> {
  for (const operation of labOperations.filter(({ method }) => method === 'DELETE')) {
    const { url } = sampleRequest(operation, '');
    const [, list = '', exampleId = ''] = /^(.*)\/([^/]+)$/.exec(url) ?? [];
    assert.deepEqual(Object.values(exampleParams(operation)), [exampleId]);
    const begin = labOperations.find(({ method, path }) => method === 'POST' && path === list);
    assert.ok(begin, list);
    const { body } = sampleRequest(begin, '');
    const { body: made, status, text } = await store.send('POST', `/lab${list}`, { key, body });
    assert.equal(status, 201, text);
    await store.call('GET', '/pets', { key });
    assert.equal((await store.send('DELETE', `/lab${list}/${made.id}`, { key })).status, 200);
    for (const [table, column] of begun[list] ?? []) {
      const [name, of] = [identifier(table), identifier(column)];
      await store.db.write((sql) => sql`update ${name} set ${of} = ${exampleId} where ${of} = ${made.id}`);
    }
  }
}
