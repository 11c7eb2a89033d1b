import type { Transaction } from '../../db/database.ts';
import { resetWorkspace } from '../../demo/reset.ts';
import { ApiError } from '../../errors.ts';
import { findKey, unknownKey } from '../../keys/store.ts';
import { countContent } from '../../workspaces/store.ts';
import type { Owner } from '../bound.ts';
import { maxResetKeys, maxResetRows } from '../bounds.ts';
import type { WorkspaceContent } from './schema.ts';

/** Resets the workspace of a key to the demonstration data. Throws `conflict` if it holds too much for a request. */
export async function resetOwn(sql: Transaction, { workspaceId, keyId }: Owner): Promise<WorkspaceContent> {
  const key = await findKey(sql, keyId);
  if (!key) throw unknownKey();
  const count = () => countContent(sql, workspaceId, maxResetKeys + 1);
  const { idempotency_keys: keptKeys, ...content } = await count();
  const rows = Object.values(content).reduce((sum, ofTable) => sum + ofTable);
  if (rows > maxResetRows || keptKeys > maxResetKeys) {
    throw new ApiError(
      'conflict',
      `This workspace holds more than ${maxResetRows} rows, or ${maxResetKeys} Idempotency-Keys, which is too much for a request. Who runs the service can do it by the command "petstore workspaces reset ${key.workspace}".`,
    );
  }
  await resetWorkspace(sql, { id: workspaceId, name: key.workspace });
  const { categories, pets, orders } = await count();
  return { categories, pets, orders };
}
