import { createKey } from '../../src/access/keys/store.ts';
import type { Database } from '../../src/db/database.ts';
import type { Sql } from '../../src/db/sql.ts';
import { InstallationKey } from '../../src/foundation/settings/secret-key.ts';
import type { Installation } from '../../src/http/operation.ts';
import { seedWorkspace } from '../../src/store/demo/seed.ts';
import { createWorkspace } from '../../src/store/workspaces/store.ts';

/** An installation that sends to nobody. */
export const installation: Installation = {
  key: new InstallationKey('the key of an installation for benchmarks'),
  targetProblem: () => 'absent',
};

/** A key that no load uses up. */
export async function createAmpleKey(sql: Sql, workspaceId: number): Promise<string> {
  const quota = { perMinute: 100_000_000, perDay: 1_000_000_000 };
  return (await createKey(sql, { workspaceId, plan: 'enterprise', quota }, Date.now())).key;
}

/** A workspace with the demonstration data, and a key that no load uses up. */
export const createShop = (db: Database, name: string): Promise<{ key: string; workspaceId: number }> =>
  db.write(
    async (sql) => {
      const { id: workspaceId } = await createWorkspace(sql, name, Date.now());
      await seedWorkspace(sql, workspaceId);
      return { key: await createAmpleKey(sql, workspaceId), workspaceId };
    },
    { atMs: Date.now(), workspaceId: undefined },
  );
