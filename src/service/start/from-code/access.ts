import { createKey } from '../../../access/keys/store.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { ampleQuota, type Plan, planNames, type Quota } from '../../../foundation/settings/plans.ts';
import { seedWorkspace } from '../../../store/demo/seed.ts';
import {
  createWorkspace,
  deleteAllWorkspaces,
  demoWorkspace,
  findWorkspace,
  isWorkspaceName,
  workspaceNameRule,
} from '../../../store/workspaces/store.ts';
import { anything, assertFits, assertOptions, flag, type Rule } from './check-options.ts';

export interface WorkspaceOptions {
  /** Whether it starts with the demo data: 7 categories, 20 pets, 8 orders. Default: true. */
  seed?: boolean;
  /** Plan of the key. Default: 1,000,000 requests a minute, more than any test sends. */
  plan?: Plan;
  /** Requests per minute and per day of the key, instead of a plan. */
  quota?: Quota;
}

/** A workspace, and a key to it. */
export interface Access {
  workspace: string;
  key: string;
}

const isPlan = (value: unknown) => planNames.some((plan) => plan === value);
const count: Rule = {
  fits: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  must: 'an integer above 0',
};

/** A rule for each option of a workspace. `assertQuota` checks the combination of plan and quota. */
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
    throw new TypeError(`The plan ${plan} has its own limits: leave out plan or quota.`);
  for (const name of ['perMinute', 'perDay'] as const) assertFits(`quota.${name}`, quota[name], count);
}

/** Creates a workspace and a key to it. Throws if the name is taken, and TypeError if the name or an option is invalid. */
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
      if (await findWorkspace(sql, name)) throw new Error(`The workspace ${name} already exists.`);
      return createAccess(sql, name, nowMs, options);
    },
    { atMs: nowMs, workspaceId: undefined },
  );
}

/** The first workspace of a store and a new key to it. A data folder may already contain the workspace. */
export function firstAccess(db: Database, nowMs: number, options: WorkspaceOptions): Promise<Access> {
  return db.write(
    async (sql) => {
      const workspace = await findWorkspace(sql, demoWorkspace);
      return workspace
        ? { workspace: demoWorkspace, key: await createAccessKey(sql, workspace.id, nowMs, options) }
        : createAccess(sql, demoWorkspace, nowMs, options);
    },
    { atMs: nowMs, workspaceId: undefined },
  );
}

/**
 * Deletes all workspaces and creates the first one again, with the same key. It has a new `workspace_id`, so an earlier request still refers
 * to the deleted workspace. `forget` is called in the transaction.
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
      await createAccess(sql, workspace, nowMs, options, key);
      forget();
    },
    { atMs: nowMs, workspaceId: undefined },
  );
}

async function createAccess(
  sql: Transaction,
  name: string,
  nowMs: number,
  options: WorkspaceOptions,
  key?: string,
): Promise<Access> {
  const { id } = await createWorkspace(sql, name, nowMs);
  if (options.seed ?? true) await seedWorkspace(sql, id);
  return { workspace: name, key: await createAccessKey(sql, id, nowMs, options, key) };
}

async function createAccessKey(
  sql: Transaction,
  workspaceId: number,
  nowMs: number,
  { plan = 'enterprise', quota = ampleQuota }: WorkspaceOptions,
  text?: string,
): Promise<string> {
  // Its owner may change its plan, as in the demo.
  const newKey = { workspaceId, plan, origin: 'demo', ...(plan === 'enterprise' && { quota }) } as const;
  return (await createKey(sql, newKey, nowMs, text)).key;
}
