import type { Transaction } from '../db/database.ts';
import { assertStillThere, clearWorkspace, type Workspace } from '../workspaces/store.ts';
import { seedWorkspace } from './seed.ts';

/** Removes everything in a workspace, and fills it with the demonstration data. Throws if it was deleted meanwhile. */
export async function resetWorkspace(
  sql: Transaction,
  workspace: Pick<Workspace, 'id' | 'name'>,
): Promise<void> {
  await assertStillThere(sql, workspace);
  await clearWorkspace(sql, workspace.id);
  await seedWorkspace(sql, workspace.id);
}
