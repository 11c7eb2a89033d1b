import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql } from '../../../src/db/sql.ts';
import { extentOf, forgetOldEvents, readEvents } from '../../../src/store/history/store.ts';
import { startPetstore } from '../../support/petstore.ts';

const removed = 20_000;
/** The most blocks of PostgreSQL that reading one event may access, wherever the history begins. */
const maxBlocks = 40;

test('reading the oldest events costs the same after many older ones were removed', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const [db, workspaceId] = [store.db, 1];
  await db.write(async (sql) => {
    // Removed rows stay until PostgreSQL cleans up, as they do while a large history shrinks.
    await sql`alter table events set (autovacuum_enabled = false)`;
    await sql`
      insert into events (workspace_id, id, type, created_at_ms, data)
      select ${workspaceId}, id, 'pet.created', 0, '{}' from generate_series(2, ${removed}) id`;
    await sql`update sequences set last_id = ${removed} where workspace_id = ${workspaceId} and kind = 'events'`;
  });
  await forgetOldEvents(db, { maxAgeMs: Number.MAX_SAFE_INTEGER, maxCount: 1 }, store.nowMs);
  assert.deepEqual(await extentOf(db.read, workspaceId), { first: removed, last: removed });

  const page = { after: removed - 1, upTo: removed, limit: 1 };
  const readings: ((sql: Sql) => Promise<unknown>)[] = [
    (sql) => extentOf(sql, workspaceId),
    (sql) => readEvents(sql, workspaceId, page),
  ];
  for (const reading of readings) {
    const blocks = await blocksOf(db.read, reading);
    assert.ok(blocks > 0 && blocks <= maxBlocks, `${blocks} blocks`);
  }
});

/** The number of blocks that PostgreSQL accesses for a statement. */
async function blocksOf(sql: Sql, reading: (sql: Sql) => Promise<unknown>): Promise<number> {
  let blocks = 0;
  const explained: Sql = async ([first, ...rest], ...values) => {
    const parts = [`explain (analyze, buffers, format json) ${first}`, ...rest];
    const [[plan] = []] = await sql(Object.assign(parts, { raw: parts }), ...values);
    const [{ Plan }] = JSON.parse(String(plan));
    blocks += Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
    return [];
  };
  await reading(explained).catch(() => {});
  return blocks;
}
