import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { identifier, type Sql } from '../../src/db/sql.ts';
import { rowKinds } from '../../src/db/tables.ts';

/** Asserts the invariants of a workspace: ids, references, and the rules of stock and status. */
export async function assertInvariants(sql: Sql, workspaceId: number): Promise<void> {
  const orphans = await sql`
    select p.id from pets p left join categories c on c.workspace_id = p.workspace_id and c.id = p.category_id
    where p.workspace_id = ${workspaceId} and c.id is null`;
  assert.deepEqual(orphans, [], 'every pet has its category');
  const lost = await sql`
    select o.id from orders o left join pets p on p.workspace_id = o.workspace_id and p.id = o.pet_id
    where o.workspace_id = ${workspaceId} and o.complete = 0 and o.pet_id is not null and p.id is null`;
  assert.deepEqual(lost, [], 'every open order has its pet');
  for (const kind of rowKinds) {
    const beyond = await sql`
      select id from ${identifier(kind)} where workspace_id = ${workspaceId} and id > (
        select last_id from sequences where workspace_id = ${workspaceId} and kind = ${kind})`;
    assert.deepEqual(beyond, [], `no id of ${kind} is above the last that was given out`);
  }
  const outOfRange = await sql`
    select id from pets where workspace_id = ${workspaceId}
      and (stock not between 0 and 2147483647 or status not in ('available', 'pending', 'sold'))`;
  assert.deepEqual(outOfRange, [], 'every stock is a count and every status is one of three');
}

/** SQLite finds no damage in the database of this folder. */
export function assertSound(folder: string): void {
  const database = new DatabaseSync(join(folder, 'petstore.db'));
  try {
    assert.equal(database.prepare('pragma integrity_check').get()?.integrity_check, 'ok');
  } finally {
    database.close();
  }
}
