import { fragment, type Row, type Sql } from '../../db/sql.ts';
import { type Page, type PageRequest, toPage } from '../../page.ts';
import type { Owner } from '../bound.ts';
import { archiveBounds } from '../bounds.ts';
import type { Linked } from './attempts.ts';
import type { Links } from './links.ts';
import type { Recorded, RecordedFacts } from './recorded.ts';
import { readRows, withBody } from './rows.ts';
import { getRecording } from './store.ts';

/** A recorded request by itself. */
export type Alone = Omit<Recorded, keyof Linked>;

/** What is kept of a recording of a key, in the order of time, without bodies. Throws `not_found` if the key has no such recording. */
export async function readRecorded(
  sql: Sql,
  owner: Owner,
  recordingId: string,
  known: Links,
): Promise<Recorded[]> {
  const recorded: Alone[] = [];
  const { requests: upTo } = await getRecording(sql, owner, recordingId);
  const links = await known.of(sql, owner, recordingId, upTo);
  const columns = fragment`number, at_us, took_us, facts`;
  for await (const rows of readRows(sql, owner, recordingId, columns, { after: 0, upTo }))
    for (const row of rows) recorded.push(toAlone(row));
  return recorded.map((one) => linked(one, links)).sort(byTime);
}

/** A page of what is kept of a recording of a key, in the order in which it was kept. */
export async function listRecorded(
  sql: Sql,
  owner: Owner,
  recordingId: string,
  { after, limit }: PageRequest,
  known: Links,
): Promise<Page<Recorded>> {
  const { requests: upTo } = await getRecording(sql, owner, recordingId);
  const rows = await sql`
    select ${withBody} from recorded_requests
    where workspace_id = ${owner.workspaceId} and recording_id = ${recordingId}
      and number > ${after} and number <= ${upTo}
    order by number limit ${limit + 1}`;
  if (rows.length === 0) return { items: [] };
  const links = await known.of(sql, owner, recordingId, upTo);
  return toPage(rows, limit, (row) => linked(toAlone(row), links));
}

/** A part of what is kept of a recording of a key, in the order of time. `next`: more follows after the request with this number. */
export async function readArchive(
  sql: Sql,
  owner: Owner,
  recordingId: string,
  after: number,
): Promise<{ recorded: Alone[]; next?: number }> {
  const { requests: kept } = await getRecording(sql, owner, recordingId);
  const upTo = Math.min(kept, after + archiveBounds.requests);
  const recorded: Alone[] = [];
  let room = archiveBounds.characters;
  for await (const rows of readRows(sql, owner, recordingId, withBody, { after, upTo }))
    for (const row of rows) {
      room -= String(row[3]).length + (row[4] === null ? 0 : String(row[4]).length);
      if (room < 0 && recorded.length > 0) break;
      recorded.push(toAlone(row));
    }
  const last = recorded.at(-1)?.number ?? kept;
  return { recorded: recorded.sort(byTime), ...(last < kept && { next: last }) };
}

const byTime = (a: Alone, b: Alone) => a.atMs - b.atMs || a.number - b.number;

const linked = (alone: Alone, links: ReadonlyMap<number, Linked>): Recorded => ({
  ...alone,
  ...(links.get(alone.number) as Linked),
});

function toAlone([number, atUs, tookUs, facts, body]: Row): Alone {
  return {
    ...(JSON.parse(String(facts)) as RecordedFacts),
    number: Number(number),
    atMs: Number(atUs) / 1_000,
    tookMs: Number(tookUs) / 1_000,
    ...(typeof body === 'string' && { body }),
  };
}
