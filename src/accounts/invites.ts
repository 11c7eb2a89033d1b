import { hashKey, randomDigits } from '../access/keys/store.ts';
import { type Fragment, fragment, type Row, type Sql } from '../db/sql.ts';
import { type OpenPlan, openPlanNames } from '../foundation/settings/plans.ts';
import { rootUrlOf } from '../http/target.ts';

/** The most uses of an invite. */
export const maxUses = 10_000;
const codeForm = /^inv_[0-9A-Za-z]{16}$/;

/** An invite as the operator sees it. Its code is not stored, and `used` never falls. Times are milliseconds since 1970. */
const toInvite = ([id, plan, upgrades, uses, used, label, ...times]: Row) => ({
  ...{ id: String(id), plan: plan as OpenPlan, upgrades: openPlansIn(String(upgrades)) },
  ...{ uses: Number(uses), used: Number(used), ...(label != null && { label: String(label) }) },
  ...{ createdAtMs: Number(times[0]), expiresAtMs: Number(times[1]) },
  ...(times[2] != null && { endedAtMs: Number(times[2]) }),
});
export type Invite = ReturnType<typeof toInvite>;

const columns = fragment`id, plan, upgrades, uses, used, label, created_at_ms, expires_at_ms, ended_at_ms`;

/** The plans in a stored list. */
export const openPlansIn = (list: string): readonly OpenPlan[] =>
  openPlanNames.filter((plan) => list.split(',').includes(plan));

/** Whether an invite admits nobody any more, whatever uses it has left. */
export const isOver = ({ endedAtMs, expiresAtMs }: Invite, nowMs: number) =>
  endedAtMs !== undefined || expiresAtMs <= nowMs;

/** Creates an invite. Returns its id and its code: `inv_` and 16 base62 characters, which cannot be shown again. */
export async function createInvite(
  sql: Sql,
  invite: Pick<Invite, 'plan' | 'upgrades' | 'uses' | 'label' | 'expiresAtMs'>,
  nowMs: number,
): Promise<{ id: string; code: string }> {
  const [id, code] = [`invite_${randomDigits(12)}`, `inv_${randomDigits(16)}`];
  const { plan, upgrades, uses, label, expiresAtMs } = invite;
  await sql`
    insert into invites (id, hash, plan, upgrades, uses, label, created_at_ms, expires_at_ms)
    values (${id}, ${hashKey(code)}, ${plan}, ${upgrades.join()}, ${uses}, ${label ?? null}, ${nowMs}, ${expiresAtMs})`;
  return { id, code };
}

/** All invites, the newest first. */
export async function listInvites(sql: Sql): Promise<Invite[]> {
  const rows = await sql`select ${columns} from invites order by created_at_ms desc, id`;
  return rows.map(toInvite);
}

export const findInvite = (sql: Sql, id: string) => findBy(sql, fragment`id = ${id}`);

/** The invite with a code, also if it is over. A malformed code costs no look-up. */
export async function findByCode(sql: Sql, code: string): Promise<Invite | undefined> {
  return codeForm.test(code) ? findBy(sql, fragment`hash = ${hashKey(code)}`) : undefined;
}

async function findBy(sql: Sql, condition: Fragment): Promise<Invite | undefined> {
  const [row] = await sql`select ${columns} from invites where ${condition}`;
  return row && toInvite(row);
}

/** Takes one use, and locks the invite until the transaction ends. Returns whether one was left. */
export async function takeUse(sql: Sql, id: string, nowMs: number): Promise<boolean> {
  const rows = await sql`
    update invites set used = used + 1
    where id = ${id} and used < uses and ended_at_ms is null and expires_at_ms > ${nowMs} returning id`;
  return rows.length > 0;
}

/** Adds uses. Returns how many it then has, or undefined: there is no such invite, it has ended, or it would have too many. */
export async function addUses(sql: Sql, id: string, more: number): Promise<number | undefined> {
  const [row] = await sql`
    update invites set uses = uses + ${more}
    where id = ${id} and ended_at_ms is null and uses + ${more} <= ${maxUses} returning uses`;
  return row && Number(row[0]);
}

/** Ends an invite for good; the time of the first end stays. */
export async function endInvite(sql: Sql, id: string, nowMs: number): Promise<void> {
  await sql`update invites set ended_at_ms = coalesce(ended_at_ms, ${nowMs}) where id = ${id}`;
}

/** The page on which a person uses an invite. The code stands behind `#`, so a browser does not send it. */
export const joinUrlOf = (baseUrl: string, code: string) => `${rootUrlOf(baseUrl)}${joinPath}#code=${code}`;

/** The page on which people get a key. */
export const joinPath = '/join';
