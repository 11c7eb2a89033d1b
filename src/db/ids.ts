import { unauthorized } from '../foundation/errors.ts';
import { ForeignKeyError, type Sql } from './sql.ts';
import type { RowKind } from './tables.ts';

// Ids count from 1 for each workspace and kind of rows. The table `sequences` has the last one.

/** Restarts the ids of some kinds at 1, and locks their sequences. Adds the sequences of kinds newer than the workspace. */
export async function restartIds(sql: Sql, workspaceId: number, some: readonly RowKind[]): Promise<void> {
  for (const kind of some) {
    await sql`
      insert into sequences (workspace_id, kind, last_id) values (${workspaceId}, ${kind}, 0)
      on conflict (workspace_id, kind) do update set last_id = 0`;
  }
}

/** Allocates `count` new ids in the transaction that uses them, and returns the first. Throws `unauthorized` if the workspace is deleted. */
export async function allocateIds(sql: Sql, workspaceId: number, kind: RowKind, count = 1): Promise<number> {
  // A workspace older than a kind of rows has no sequence for it yet. A deleted workspace breaks the foreign key.
  const [row] = await sql`
    insert into sequences (workspace_id, kind, last_id) values (${workspaceId}, ${kind}, ${count})
    on conflict (workspace_id, kind) do update set last_id = sequences.last_id + excluded.last_id
    returning last_id`.catch(refuseDeleted);
  return Number(row?.[0]) - count + 1;
}

function refuseDeleted(error: unknown): never {
  if (!(error instanceof ForeignKeyError)) throw error;
  throw unauthorized('The workspace of this API key was deleted.', 'invalid_token');
}
