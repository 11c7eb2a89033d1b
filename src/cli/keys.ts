import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import {
  clearBan,
  createKey,
  findKey,
  listKeys,
  revokeKey,
  type StoredKey,
  setPlan,
} from '../access/keys/store.ts';
import { findAccount } from '../access/limits/accounts.ts';
import { advanceWindows, clockHoldMs, type LimitAccount, unusedAccount } from '../access/limits/decision.ts';
import type { Valkey } from '../access/limits/valkey.ts';
import type { Sql } from '../db/sql.ts';
import { readConfig } from '../foundation/settings/config.ts';
import { banRules, type Plan, planNames, plans, type Quota } from '../foundation/settings/plans.ts';
import { withoutLogins } from '../foundation/settings/valkey-url.ts';
import type { Owner } from '../lab/key-binding.ts';
import { demoWorkspace } from '../store/workspaces/store.ts';
import { parseCount } from './lab-rehearse.ts';
import { withStorage } from './storage.ts';
import { isoTime, printFields, printRows } from './terminal.ts';
import { workspaceNamed } from './workspaces.ts';

const json = () => new Option('--json', 'print JSON');
const plan = () =>
  new Option('--plan <plan>', 'plan of the key; required').choices(planNames).makeOptionMandatory();
const perWindow = (window: 'minute' | 'day') =>
  new Option(
    `--per-${window} <n>`,
    `requests per ${window}; only for enterprise, where it is required`,
  ).argParser(parseCount);

export function keysCommand(): Command {
  const keys = new Command('keys').description('Create, inspect, change and revoke API keys.');

  keys
    .command('create')
    .description('Create a key and print it. It cannot be shown again: only its hash is stored.')
    .addOption(plan())
    .option('--workspace <name>', 'workspace that the key gives access to', demoWorkspace)
    .addOption(perWindow('minute'))
    .addOption(perWindow('day'))
    .option('--name <label>', 'label for the key', parseLabel)
    .addOption(json())
    .action(async (options, command: Command) => {
      const quota = enterpriseQuota(options.plan, options, command);
      await withStorage(async (db) => {
        const { id, key } = await db.write(async (sql) => {
          const { id: workspaceId } = await workspaceNamed(sql, options.workspace);
          const key = { workspaceId, plan: options.plan, ...(quota && { quota }), label: options.name };
          return createKey(sql, key, Date.now());
        });
        const { workspace, plan, name: label } = options;
        printFields({ id, key, plan, workspace, ...limitsOf(plan, quota), label }, options.json);
      });
    });

  keys
    .command('list')
    .description('List all keys, including revoked ones.')
    .addOption(json())
    .action(async (options) => {
      const stored = await withStorage((db) => listKeys(db.read));
      printRows(stored.map(keyFields), options.json);
    });

  keys
    .command('show')
    .description('Show one key: its plan, the used part of its limits, its strikes and its ban.')
    .argument('<id>', 'id of the key, as in "keys list"')
    .addOption(json())
    .action(async (id, options) => {
      const fields = await withStorage(async ({ read }) => {
        const key = (await findKey(read, id)) ?? noSuchKey(id);
        const [account] = await currentLimits(read, [{ workspaceId: key.workspaceId, keyId: id }]);
        return { ...keyFields(key), ...usageFields(account ?? unusedAccount, key, Date.now()) };
      });
      printFields(fields, options.json);
    });

  keys
    .command('revoke')
    .description('Revoke a key permanently. A running service refuses it within a second.')
    .argument('<id>', 'id of the key, as in "keys list"')
    .action(async (id) => {
      await changeKey(id, (sql) => revokeKey(sql, id, Date.now()));
      console.log(`Key ${id} is revoked.`);
    });

  keys
    .command('plan')
    .description('Change the plan of a key. A running service applies it within a second.')
    .argument('<id>', 'id of the key, as in "keys list"')
    .addArgument(new Argument('<plan>', 'the new plan').choices(planNames))
    .addOption(perWindow('minute'))
    .addOption(perWindow('day'))
    .action(async (id, plan, options, command: Command) => {
      const quota = enterpriseQuota(plan, options, command);
      await changeKey(id, (sql) => setPlan(sql, id, plan, quota));
      console.log(`Key ${id} is on plan ${plan}.`);
    });

  keys
    .command('unban')
    .description(
      'Lift the ban of a key and forget earlier bans. A running service applies it within a second.',
    )
    .argument('<id>', 'id of the key, as in "keys list"')
    .action(async (id) => {
      const nowMs = await latestClockMs();
      await changeKey(id, (sql) => clearBan(sql, id, nowMs));
      console.log(`Key ${id} is not banned any more, and its earlier bans are forgotten.`);
    });

  return keys;
}

/** Writes to a key. Throws if `change` finds none. */
async function changeKey(id: string, change: (sql: Sql) => Promise<boolean>): Promise<void> {
  if (!(await withStorage((db) => db.write(change)))) noSuchKey(id);
}

function noSuchKey(id: string): never {
  throw new Error(`There is no key with the id ${id}. "keys list" shows all keys.`);
}

/** The quota of an Enterprise key. The other plans have fixed quotas. */
function enterpriseQuota(plan: Plan, options: Partial<Quota>, command: Command): Quota | undefined {
  const { perMinute, perDay } = options;
  if (plan !== 'enterprise') {
    if (perMinute !== undefined || perDay !== undefined)
      command.error(`error: --per-minute and --per-day are for the plan enterprise, not ${plan}`);
    return undefined;
  }
  if (perMinute === undefined || perDay === undefined)
    return command.error('error: the plan enterprise needs --per-minute and --per-day');
  return { perMinute, perDay };
}

const limitsOf = (plan: Plan, quota: Quota | undefined): Partial<Quota> => quota ?? plans[plan] ?? {};

/** What a key has used of its limits, and its ban. */
export function usageFields(
  account: LimitAccount,
  { plan, quota, banClearedAtMs }: Pick<StoredKey, 'plan' | 'quota' | 'banClearedAtMs'>,
  clockMs: number,
) {
  const { current, nowMs } = advanceWindows(account, { banClearedAtMs }, clockMs);
  const { minuteCount, dayCount, strikes, bans, bannedAtMs, bannedUntilMs } = current;
  const { perMinute, perDay } = limitsOf(plan, quota);
  return {
    minuteUsed: minuteCount,
    minuteRemaining: Math.max(0, (perMinute ?? 0) - minuteCount),
    dayUsed: dayCount,
    dayRemaining: Math.max(0, (perDay ?? 0) - dayCount),
    strikes,
    bans: nowMs < bannedAtMs + banRules.memoryMs ? bans : 0,
    ...(nowMs < bannedUntilMs && { bannedUntil: isoTime(bannedUntilMs) }),
  };
}

function keyFields(key: StoredKey) {
  const { id, workspace, plan, quota, label, origin, createdAtMs, revokedAtMs, oldSecretUntilMs = 0 } = key;
  return {
    ...{ id, workspace, plan, ...limitsOf(plan, quota), createdAt: isoTime(createdAtMs) },
    ...(origin !== undefined && { origin }),
    ...(oldSecretUntilMs > Date.now() && { oldSecretUntil: isoTime(oldSecretUntilMs) }),
    ...(label !== undefined && { label }),
    ...(revokedAtMs !== undefined && { revokedAt: isoTime(revokedAtMs) }),
  };
}

export function parseLabel(text: string): string {
  if (!/^[^\p{Cc}]{1,100}$/u.test(text))
    throw new InvalidArgumentError('It must be 1 to 100 characters, without control characters.');
  return text;
}

const connectWithinMs = 2_000;

/**
 * The accounts of keys. If instances share their counts in Valkey, they come from there. Otherwise they are those that the running server
 * saved, at most a second ago. Throws if Valkey cannot be reached.
 */
export async function currentLimits(sql: Sql, keys: readonly Owner[]): Promise<(LimitAccount | undefined)[]> {
  const { valkeyUrls } = readConfig(process.env);
  if (valkeyUrls.length === 0)
    return Promise.all(keys.map(({ workspaceId, keyId }) => findAccount(sql, workspaceId, keyId)));
  const { findSharedAccount } = await import('../access/limits/shared-accounts.ts');
  return withValkey(valkeyUrls, (valkey) =>
    Promise.all(keys.map(({ workspaceId, keyId: id }) => findSharedAccount(valkey, { workspaceId, id }))),
  ).catch((error: Error) => {
    const reason = withoutLogins(error.message, valkeyUrls);
    throw new Error(`The counts are in Valkey, which cannot be reached: ${reason}`);
  });
}

/**
 * The later of two times: this clock and the clock of Valkey. A ban may have started by either clock. If Valkey responds within
 * `connectWithinMs`, the result is at most `clockHoldMs` ahead of its clock, because a later time would have no effect.
 */
async function latestClockMs(): Promise<number> {
  const { valkeyUrls } = readConfig(process.env);
  const nowMs = Date.now();
  if (valkeyUrls.length === 0) return nowMs;
  const { sharedClockMs } = await import('../access/limits/shared-accounts.ts');
  const sharedMs = await withValkey(valkeyUrls, sharedClockMs).catch(() => undefined);
  return sharedMs === undefined ? nowMs : Math.min(Math.max(nowMs, sharedMs), sharedMs + clockHoldMs);
}

async function withValkey<T>(urls: string[], work: (valkey: Valkey) => Promise<T>): Promise<T> {
  const { connectValkey, inTime } = await import('../access/limits/valkey.ts');
  const valkey = await connectValkey(urls, connectWithinMs);
  try {
    return await inTime(connectWithinMs, work(valkey));
  } finally {
    valkey.disconnect();
  }
}
