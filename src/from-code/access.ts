import type { Database, Transaction } from '../db/database.ts';
import { seedWorkspace } from '../demo/seed.ts';
import { createKey } from '../keys/store.ts';
import { type Plan, planNames, type Quota } from '../limits/plans.ts';
import { isWorkspaceName, workspaceNameRule } from '../workspaces/name.ts';
import { createWorkspace, deleteAllWorkspaces, demoWorkspace, findWorkspace } from '../workspaces/store.ts';
import { anything, assertFits, assertOptions, flag, type Rule } from './options.ts';

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

const isPlan = (value: unknown) => planNames.some((plan) => plan === value);
const count: Rule = {
  fits: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  must: 'a whole number above 0',
};

/** What the options of a workspace must be, each by itself. */
export const workspaceRules = {
  seed: flag,
  plan: { fits: isPlan, must: `one of ${planNames.join(', ')}` },
  quota: anything,
};

/** Throws TypeError if the plan and the quota of a workspace do not fit each other. */
export function assertQuota({ plan, quota }: WorkspaceOptions): void {
  if (quota === undefined) return;
  assertOptions(quota, { perMinute: anything, perDay: anything }, 'quota');
  if (plan !== undefined && plan !== 'enterprise')
    throw new TypeError(`The plan ${plan} has numbers of its own: leave out plan, or quota.`);
  for (const name of ['perMinute', 'perDay'] as const) assertFits(`quota.${name}`, quota[name], count);
}

/**
 * Makes a workspace and a key to it in one transaction. Throws if there is a workspace with this name, and TypeError if name or options
 * cannot be used.
 */
export async function addWorkspace(
  db: Database,
  name: string,
  nowMs: number,
  options: WorkspaceOptions = {},
): Promise<Access> {
  assertFits('name', name, { fits: isWorkspaceName, must: workspaceNameRule });
  assertOptions(options, workspaceRules);
  assertQuota(options);
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
