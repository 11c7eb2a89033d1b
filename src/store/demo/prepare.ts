import { join } from 'node:path';
import { createKey, findCaller } from '../../access/keys/store.ts';
import type { Database } from '../../db/database.ts';
import { inDataDir, readOwnFile, replaceFile } from '../../foundation/settings/data-dir.ts';
import { createWorkspace, demoWorkspace, lockWorkspace } from '../workspaces/store.ts';
import { seedWorkspace } from './seed.ts';

/**
 * Creates the demo workspace unless it exists: a seeded workspace and a Free key. The key is stored in `demo.key` in the data
 * folder, readable by its owner alone. Several instances may start at once. Returns the key.
 */
export async function prepareDemo(db: Database, dataDir: string, nowMs: number): Promise<string> {
  const file = join(dataDir, 'demo.key');
  return db.write(
    async (sql) => {
      let workspace = await lockWorkspace(sql, demoWorkspace);
      if (!workspace) {
        workspace = await createWorkspace(sql, demoWorkspace, nowMs);
        await seedWorkspace(sql, workspace.id);
      }
      const kept = inDataDir(dataDir, () => readOwnFile(file)?.trim());
      if (kept && (await findCaller(sql, kept))?.workspaceId === workspace.id) return kept;
      const { key } = await createKey(
        sql,
        { workspaceId: workspace.id, plan: 'free', label: 'demonstration' },
        nowMs,
      );
      inDataDir(dataDir, () => replaceFile(file, `${key}\n`));
      return key;
    },
    { atMs: nowMs, workspaceId: undefined },
  );
}
