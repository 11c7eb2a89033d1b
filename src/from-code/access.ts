import type { Database, Transaction } from '../db/database.ts';
import { seedWorkspace } from '../demo/seed.ts';
import { createKey } from '../keys/store.ts';
import { type Plan, planNames, type Quota } from '../limits/plans.ts';
import { createWorkspace, deleteAllWorkspaces, demoWorkspace, findWorkspace } from '../workspaces/store.ts';

export interface WorkspaceOptions {
  /** Whether it begins with the content of the demonstration: 7 categories, 20 pets, 8 orders. It does by default. */
  seed?: boolean;
  /** Plan of the key. Without one it has more requests than a test sends: 1,000,000 a minute. */
  plan?: Plan;
  /** Requests per minute and per day of the key, in place of those of a plan. */
  quota?: Quota;
}

/** A workspace, and a key to it. */
export interface Access {
  /** The name of the workspace. */
  workspace: string;
  key: string;
}

/** More than any test sends. */
const ample: Quota = { perMinute: 1_000_000, perDay: 10_000_000 };

/** Throws TypeError if the options of a workspace do not fit. */
export function assertWorkspaceOptions({ plan, quota }: WorkspaceOptions): void {
  if (plan !== undefined && !planNames.includes(plan))
    throw new TypeError(`plan must be one of ${planNames.join(', ')}, not ${JSON.stringify(plan)}.`);
  if (quota === undefined) return;
  if (plan !== undefined && plan !== 'enterprise')
    throw new TypeError(`The plan ${plan} has numbers of its own: leave out plan, or quota.`);
  for (const name of ['perMinute', 'perDay'] as const)
    if (!Number.isSafeInteger(quota[name]) || quota[name] < 1)
      throw new TypeError(`quota.${name} must be a whole number above 0, not ${quota[name]}.`);
}

/** Makes a workspace and a key to it in one transaction. Throws if there is a workspace with this name. */
export function addWorkspace(
  db: Database,
  name: string,
  nowMs: number,
  options: WorkspaceOptions = {},
): Promise<Access> {
  assertWorkspaceOptions(options);
  return db.write(
    async (sql) => {
      if (await findWorkspace(sql, name)) throw new Error(`There is a workspace ${name} already.`);
      return makeAccess(sql, name, nowMs, options);
    },
    { atMs: nowMs, workspaceId: undefined },
  );
}

/** The workspace that a store begins with, which a data folder may hold already, and a new key to it. */
export function firstAccess(db: Database, nowMs: number, options: WorkspaceOptions): Promise<Access> {
  return db.write(
    async (sql) => {
      const workspace = await findWorkspace(sql, demoWorkspace);
      return workspace
        ? { workspace: demoWorkspace, key: await makeKey(sql, workspace.id, nowMs, options) }
        : makeAccess(sql, demoWorkspace, nowMs, options);
    },
    { atMs: nowMs, workspaceId: undefined },
  );
}

/**
 * Removes all that is kept and makes the first workspace anew, with the key that it had. Its rows have another `workspace_id`, so a
 * request that began before finds itself in a workspace that was deleted. `forget` is called within.
 */
export async function startOver(
  db: Database,
  { workspace, key }: Access,
  nowMs: number,
  options: WorkspaceOptions,
  forget: () => void,
): Promise<void> {
  await db.write(
    async (sql) => {
      await deleteAllWorkspaces(sql);
      await makeAccess(sql, workspace, nowMs, options, key);
      forget();
    },
    { atMs: nowMs, workspaceId: undefined },
  );
}

async function makeAccess(
  sql: Transaction,
  name: string,
  nowMs: number,
  options: WorkspaceOptions,
  key?: string,
): Promise<Access> {
  const { id } = await createWorkspace(sql, name, nowMs);
  if (options.seed ?? true) await seedWorkspace(sql, id);
  return { workspace: name, key: await makeKey(sql, id, nowMs, options, key) };
}

async function makeKey(
  sql: Transaction,
  workspaceId: number,
  nowMs: number,
  { plan = 'enterprise', quota = ample }: WorkspaceOptions,
  text?: string,
): Promise<string> {
  const { key } = await createKey(
    sql,
    { workspaceId, plan, ...(plan === 'enterprise' && { quota }) },
    nowMs,
    text,
  );
  return key;
}
