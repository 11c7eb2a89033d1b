import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writers } from '../../src/db/postgres-pools.ts';
import { startPetstore } from '../support/petstore.ts';
import { testDatabaseUrl } from '../support/storage.ts';
import { until } from '../support/until.ts';
import { metricsIn, textOfAllMetrics, valueIn } from './metrics.ts';

test('an instance with PostgreSQL shows its connections, its reads and the waiting work', {
  skip: testDatabaseUrl ? false : 'it needs PostgreSQL',
}, async (t) => {
  const store = await startPetstore(t);
  const ids = [];
  for (let i = 0; i <= writers; i++) ids.push((await store.addWorkspace(`more-${i}`, false)).workspaceId);
  // The counts of limits are written in the background.
  await store.holdLimits();
  const before = await store.metrics();
  const { promise: isHeld, resolve: letGo } = Promise.withResolvers<void>();
  let begun = 0;
  const writes = ids.map((id) =>
    store.change(async (sql) => {
      await sql`select 1`;
      begun++;
      await isHeld;
    }, id),
  );
  await until(() => begun === writers);
  const during = await store.metrics();
  assert.equal(valueIn(during, 'petstore_postgres_connections{pool="writes",state="in_use"}'), writers);
  assert.equal(valueIn(during, 'petstore_writes_waiting'), 1);
  assert.equal(valueIn(during, 'petstore_postgres_waiting{pool="writes"}'), 0);
  letGo();
  await Promise.all(writes);
  for (let i = 0; i < 5; i++) await store.call('GET', '/pets/1');
  await until(() => store.db.measured.postgres?.connections().writes.inUse === 0);
  const after = await store.metrics();
  assert.equal(valueIn(after, 'petstore_postgres_connections{pool="writes",state="in_use"}'), 0);
  assert.ok(valueIn(after, 'petstore_postgres_connections{pool="writes",state="idle"}') >= 1);
  const grown = (series: string) => valueIn(after, series) - valueIn(before, series);
  assert.ok(grown('petstore_postgres_read_duration_seconds_count') >= 5);
  assert.equal(grown('petstore_commit_writes_count'), writers + 1);
  const shown = metricsIn(after);
  for (const [name, { labels }] of metricsIn(await textOfAllMetrics()))
    if (name.startsWith('petstore_postgres_')) assert.deepEqual(shown.get(name)?.labels, labels, name);
});
