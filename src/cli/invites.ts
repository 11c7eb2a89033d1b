import { Command, InvalidArgumentError, Option } from 'commander';
import { newAccount } from '../access/limits/decision.ts';
import {
  addUses,
  createInvite,
  endInvite,
  findInvite,
  type Invite,
  isOver,
  joinUrlOf,
  listInvites,
  maxUses,
} from '../accounts/invites.ts';
import { closeMember, deleteClosed, listMembers, type Member } from '../accounts/members.ts';
import type { Database } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import { readConfig } from '../foundation/settings/config.ts';
import { openPlanNames } from '../foundation/settings/plans.ts';
import { openPlans } from '../foundation/settings/setting.ts';
import { dayMs, hourMs, minuteMs } from '../foundation/time.ts';
import { counted } from '../foundation/words.ts';
import { addressOfService } from './find-service.ts';
import { currentAccounts, parseLabel, usageFields } from './keys.ts';
import { countUpTo } from './lab-rehearse.ts';
import { withStorage } from './storage.ts';
import { confirm, isoTime, printFields, printRows, toJson } from './terminal.ts';
import { yes } from './workspaces.ts';

const json = () => new Option('--json', 'print JSON');
const idOf = (command: Command) => command.argument('<id>', 'id of the invite, as in "invites list"');
const units = { m: minuteMs, h: hourMs, d: dayMs };
const maxDays = 365;

export function invitesCommand(): Command {
  const invites = new Command('invites').description(
    'Create codes with which people create their own workspace and key, and see who did.',
  );

  invites
    .command('create')
    .description('Create an invite and print its code and its link. They cannot be shown again.')
    .addOption(new Option('--plan <plan>', 'plan of each key').choices(openPlanNames).default('free'))
    .option('--upgrades <plans>', 'plans to which each key can change itself, such as free,pro')
    .option('--uses <n>', `how many people can use it, at most ${maxUses}`, countUpTo(maxUses), 30)
    .option(
      '--expires <time>',
      'for how long: minutes, hours or days, such as 30m, 8h or 7d',
      parseTime,
      8 * hourMs,
    )
    .option('--label <text>', 'label for the invite', parseLabel)
    .addOption(json())
    .action(async ({ plan, upgrades: others = 'none', uses, expires, label, json }) => {
      // A key cannot leave a plan to which it could not return.
      const upgrades = openPlans(others === 'none' ? others : `${plan},${others}`, '--upgrades') ?? [];
      const nowMs = Date.now();
      const expiresAtMs = nowMs + expires;
      const { id, code } = await withStorage((db) =>
        db.write((sql) => createInvite(sql, { plan, upgrades, uses, label, expiresAtMs }, nowMs)),
      );
      const joinUrl = joinUrlOf(await addressOfService(readConfig(process.env)), code);
      const fields = { id, code, plan, upgrades, uses, expiresAt: isoTime(expiresAtMs), label, joinUrl };
      if (json) console.log(toJson(fields));
      else printFields({ ...fields, upgrades: upgrades.join() || 'none' }, false);
    });

  invites
    .command('list')
    .description('List all invites, the newest first.')
    .addOption(json())
    .action(async (options) => {
      const all = (await withStorage((db) => listInvites(db.read))).map(inviteFields);
      if (options.json) console.log(toJson(all));
      else printRows(all.map(asCells), false);
    });

  idOf(invites.command('show'))
    .description('Show an invite and its members, with their last requests, limits and bans.')
    .addOption(json())
    .action(async (id, options) => {
      const { invite, members } = await withStorage(async ({ read }) => {
        const invite = (await findInvite(read, id)) ?? noSuchInvite(id);
        return { invite: inviteFields(invite), members: await memberFields(read, id) };
      });
      if (options.json) return console.log(toJson({ ...invite, members }));
      printFields(asCells(invite), false);
      console.log('');
      printRows(members, false);
    });

  idOf(invites.command('add'))
    .description('Add uses to an invite.')
    .argument('<n>', 'how many more people can use it', countUpTo(maxUses))
    .action(async (id, more) => {
      const uses = await withStorage(async (db) => {
        if (!(await findInvite(db.read, id))) noSuchInvite(id);
        return db.write((sql) => addUses(sql, id, more));
      });
      if (uses === undefined)
        throw new Error(`The invite ${id} has ended, or would have more than ${maxUses} uses.`);
      console.log(`Invite ${id} has ${counted(uses, 'use')} in all.`);
    });

  idOf(invites.command('end'))
    .description('End an invite, so that nobody can use it any more. The keys of its members stay valid.')
    .option('--delete', 'also delete the workspaces of its members, with all content and keys')
    .addOption(yes())
    .action(async (id, options) => {
      const deleted = await withStorage((db) => endBy(db, id, options));
      console.log(`Invite ${id} has ended.${deleted ? ` ${counted(deleted, 'workspace')} deleted.` : ''}`);
    });

  return invites;
}

/** Ends an invite and, if asked for, deletes the workspaces of its members. Returns how many. */
async function endBy(
  db: Database,
  id: string,
  options: { delete?: boolean; yes?: boolean },
): Promise<number> {
  if (!(await findInvite(db.read, id))) noSuchInvite(id);
  const deletes = options.delete ? (await listMembers(db.read, id)).length : 0;
  if (deletes > 0 && !options.yes)
    await confirm(`Delete ${counted(deletes, 'workspace')} of the members of invite ${id} with all content?`);
  const nowMs = Date.now();
  await db.write((sql) => endInvite(sql, id, nowMs));
  if (!options.delete) return 0;
  const members = await listMembers(db.read, id);
  for (const member of members) await db.write((sql) => closeMember(sql, member, nowMs));
  await deleteClosed(db, nowMs);
  return members.length;
}

function inviteFields(invite: Invite) {
  const { id, label, plan, upgrades, uses, used, createdAtMs, expiresAtMs, endedAtMs } = invite;
  const left = isOver(invite, Date.now()) ? 0 : uses - used;
  return {
    ...{ id, label, plan, upgrades, uses, used, left },
    ...{ createdAt: isoTime(createdAtMs), expiresAt: isoTime(expiresAtMs) },
    ...(endedAtMs !== undefined && { endedAt: isoTime(endedAtMs) }),
  };
}

const asCells = ({ upgrades, ...fields }: ReturnType<typeof inviteFields>) => ({
  ...fields,
  upgrades: upgrades.join() || 'none',
});

/** The members of an invite, as the operator sees them. */
async function memberFields(sql: Sql, inviteId: string) {
  const members = await listMembers(sql, inviteId);
  const accounts = await currentAccounts(
    sql,
    members.map(({ workspaceId, keyId }) => ({ workspaceId, id: keyId })),
  );
  return members.map((member, i) => ({
    ...shownMember(member),
    ...usageFields(accounts[i] ?? newAccount, member, Date.now()),
  }));
}

const shownMember = ({ name, workspace, keyId, plan, createdAtMs, ...last }: Member) => ({
  ...{ name, workspace, keyId, plan, createdAt: isoTime(createdAtMs) },
  ...(last.lastRequestAtMs !== undefined && { lastRequestAt: isoTime(last.lastRequestAtMs) }),
  ...(last.lastError !== undefined && { lastError: last.lastError }),
});

function noSuchInvite(id: string): never {
  throw new Error(`There is no invite with the id ${id}. "invites list" shows all invites.`);
}

/** Milliseconds from text such as 30m, 8h or 7d. */
function parseTime(text: string): number {
  const [, digits, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const ms = Number(digits) * units[(unit ?? 'm') as keyof typeof units];
  if (!(ms > 0 && ms <= maxDays * dayMs))
    throw new InvalidArgumentError(`It must be a time such as 30m, 8h or 7d, at most ${maxDays}d.`);
  return ms;
}
