import { Command, InvalidArgumentError, Option } from 'commander';
import { unusedAccount } from '../access/limits/decision.ts';
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
import { closeMember, deleteClosed, listMembers } from '../accounts/members.ts';
import type { Database } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import { openPlanNames } from '../foundation/settings/plans.ts';
import { openPlans } from '../foundation/settings/setting.ts';
import { dayMs, hourMs, minuteMs } from '../foundation/time.ts';
import { counted } from '../foundation/words.ts';
import { addressOfService } from './find-service.ts';
import { currentLimits, parseLabel, usageFields } from './keys.ts';
import { countUpTo } from './lab-rehearse.ts';
import { withStorage } from './storage.ts';
import { confirm, isoTime, printFields, printRows, toJson } from './terminal.ts';
import { yes } from './workspaces.ts';

const units: Record<string, number> = { m: minuteMs, h: hourMs, d: dayMs };
const maxDays = 365;

export function invitesCommand(): Command {
  const invites = new Command('invites').description(
    'Create codes with which people create their own workspace and key, and see who did.',
  );
  const about = (name: string, description: string) =>
    invites.command(name).description(description).argument('<id>', 'id of the invite, as in "invites list"');

  invites
    .command('create')
    .description('Create an invite and print its code and its link. They cannot be shown again.')
    .addOption(new Option('--plan <plan>', 'plan of each key').choices(openPlanNames).default('free'))
    .option('--upgrades <plans>', 'plans to which each key can change itself, such as free,pro', 'none')
    .option('--uses <n>', `how many people can use it, at most ${maxUses}`, countUpTo(maxUses), 30)
    .addOption(
      new Option('--expires <time>', 'after how many minutes, hours or days, such as 30m, 8h or 7d')
        .argParser(parseTime)
        .default(8 * hourMs, '8h'),
    )
    .option('--label <text>', 'label for the invite', parseLabel)
    .option('--json', 'print JSON')
    .action(async ({ plan, uses, expires, label, ...options }) => {
      // A key cannot leave a plan to which it could not return.
      const open = options.upgrades === 'none' ? 'none' : `${plan},${options.upgrades}`;
      const upgrades = openPlans(open, '--upgrades') ?? [];
      const nowMs = Date.now();
      const expiresAtMs = nowMs + expires;
      const { id, code } = await withStorage((db) =>
        db.write((sql) => createInvite(sql, { plan, upgrades, uses, label, expiresAtMs }, nowMs)),
      );
      const joinUrl = joinUrlOf(await addressOfService(), code);
      const fields = { id, code, plan, upgrades, uses, expiresAt: isoTime(expiresAtMs), label, joinUrl };
      printFields(fields, options.json);
    });

  invites
    .command('list')
    .description('List all invites, the newest first.')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const all = await withStorage((db) => listInvites(db.read));
      printRows(all.map(inviteFields), options.json);
    });

  about('show', 'Show an invite and its members, with their last requests, limits and bans.')
    .option('--json', 'print JSON')
    .action(async (id, options) => {
      const [invite, members] = await withStorage(
        async ({ read }) => [inviteFields(await inviteWith(read, id)), await memberFields(read, id)] as const,
      );
      if (options.json) return console.log(toJson({ ...invite, members }));
      printFields(invite, false);
      console.log('');
      printRows(members, false);
    });

  about('add', 'Add uses to an invite.')
    .argument('<n>', 'how many more people can use it', countUpTo(maxUses))
    .action(async (id, more) => {
      const uses = await withStorage(async (db) => {
        if (isOver(await inviteWith(db.read, id), Date.now()))
          throw new Error(`The invite ${id} has ended or expired. "invites create" creates another.`);
        return db.write((sql) => addUses(sql, id, more));
      });
      if (uses === undefined) throw new Error(`The invite ${id} would have more than ${maxUses} uses.`);
      console.log(`Invite ${id} has ${counted(uses, 'use')} in all.`);
    });

  about('end', 'End an invite, so that nobody can use it any more. The keys of its members stay valid.')
    .option('--delete', 'also delete the workspaces of its members, with all content and keys')
    .addOption(yes())
    .action(async (id, options) => {
      const deleted = await withStorage((db) => endWith(db, id, options));
      console.log(`Invite ${id} has ended.${deleted ? ` ${counted(deleted, 'workspace')} deleted.` : ''}`);
    });

  return invites;
}

/** Ends an invite and, if asked for, deletes the workspaces of its members. Returns how many. */
async function endWith(
  db: Database,
  id: string,
  options: { delete?: boolean; yes?: boolean },
): Promise<number> {
  await inviteWith(db.read, id);
  const membersNow = async () => (options.delete ? listMembers(db.read, id) : []);
  const count = (await membersNow()).length;
  if (count > 0 && !options.yes)
    await confirm(`Delete ${counted(count, 'workspace')} of the members of invite ${id} with all content?`);
  const nowMs = Date.now();
  await db.write((sql) => endInvite(sql, id, nowMs));
  // Nobody can join any more, but somebody may have joined meanwhile.
  const members = await membersNow();
  for (const member of members)
    await db.write((sql) => closeMember(sql, member, nowMs), {
      atMs: nowMs,
      workspaceId: member.workspaceId,
    });
  if (members.length > 0) await deleteClosed(db, nowMs);
  return members.length;
}

function inviteFields(invite: Invite) {
  const { createdAtMs, expiresAtMs, endedAtMs, ...fields } = invite;
  return {
    ...fields,
    left: isOver(invite, Date.now()) ? 0 : invite.uses - invite.used,
    ...{ createdAt: isoTime(createdAtMs), expiresAt: isoTime(expiresAtMs) },
    ...(endedAtMs !== undefined && { endedAt: isoTime(endedAtMs) }),
  };
}

/** The members of an invite, with what they have used of their limits. */
async function memberFields(sql: Sql, inviteId: string) {
  const members = await listMembers(sql, inviteId);
  const accounts = await currentLimits(sql, members);
  return members.map((member, i) => {
    const { name, workspace, keyId, plan, createdAtMs, revokedAtMs, lastRequestAtMs, lastError } = member;
    return {
      ...{ name, workspace, keyId, plan, createdAt: isoTime(createdAtMs) },
      ...(revokedAtMs !== undefined && { revokedAt: isoTime(revokedAtMs) }),
      ...(lastRequestAtMs !== undefined && { lastRequestAt: isoTime(lastRequestAtMs) }),
      ...(lastError && { lastError: lastError.code, lastErrorAt: isoTime(lastError.atMs) }),
      ...usageFields(accounts[i] ?? unusedAccount, member, Date.now()),
    };
  });
}

async function inviteWith(sql: Sql, id: string): Promise<Invite> {
  const invite = await findInvite(sql, id);
  if (!invite) throw new Error(`There is no invite with the id ${id}. "invites list" shows all invites.`);
  return invite;
}

/** Milliseconds from text such as 30m, 8h or 7d. */
function parseTime(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const ms = Number(digits) * (units[unit] ?? 0);
  if (!(ms > 0 && ms <= maxDays * dayMs))
    throw new InvalidArgumentError(`It must be a time such as 30m, 8h or 7d, at most ${maxDays}d.`);
  return ms;
}
