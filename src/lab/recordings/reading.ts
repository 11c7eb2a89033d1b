import { setImmediate as nextTurn } from 'node:timers/promises';
import { fragment, type Row, type Sql } from '../../db/sql.ts';
import { type Page, type PageRequest, toPage } from '../../page.ts';
import type { Owner } from '../bound.ts';
import { archiveBounds } from '../bounds.ts';
import { type Linked, link } from './attempts.ts';
import type { Recorded, RecordedFacts } from './recorded.ts';
import { getRecording } from './store.ts';

/** Rows that are read at once, without and with bodies. Between them others have their turn. */
const [rowsAtOnce, rowsWithBodiesAtOnce] = [250, 50];

/** A recorded request by itself. */
export type Alone = Omit<Recorded, keyof Linked>;

/** What is kept of a recording of a key, in the order of time, without bodies. Throws `not_found` if the key has no such recording. */
export async function readRecorded(sql: Sql, owner: Owner, recordingId: string): Promise<Recorded[]> {
  const recorded: Alone[] = [];
  const links = await readLinks(sql, owner, recordingId);
  const columns = fragment`number, at_us, took_us, facts`;
  for await (const rows of readRows(sql, owner, recordingId, columns, { after: 0, upTo: links.size }))
    for (const row of rows) recorded.push(toAlone(row));
  return recorded.map((one) => linked(one, links)).sort(byTime);
}

/** A page of what is kept of a recording of a key, in the order in which it was kept. */
export async function listRecorded(
  sql: Sql,
  owner: Owner,
  recordingId: string,
  { after, limit }: PageRequest,
): Promise<Page<Recorded>> {
  const links = await readLinks(sql, owner, recordingId);
  const rows = await sql`
    select ${withBody} from recorded_requests
    where workspace_id = ${owner.workspaceId} and recording_id = ${recordingId}
      and number > ${after} and number <= ${links.size}
    order by number limit ${limit + 1}`;
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

const withBody = fragment`number, at_us, took_us, facts, body`;

/** Columns of the requests of a recording, the number first, in the order of numbers: those after one, up to another. */
async function* readRows(
  sql: Sql,
  { workspaceId }: Owner,
  recordingId: string,
  columns: typeof withBody,
  { after, upTo }: { after: number; upTo: number },
): AsyncGenerator<Row[]> {
  const limit = columns === withBody ? rowsWithBodiesAtOnce : rowsAtOnce;
  for (let last = after; last < upTo; ) {
    const rows = await sql`
      select ${columns} from recorded_requests
      where workspace_id = ${workspaceId} and recording_id = ${recordingId} and number > ${last} and number <= ${upTo}
      order by number limit ${limit}`;
    if (rows.length === 0) return;
    last = Number(rows.at(-1)?.[0]);
    yield rows;
    await nextTurn();
  }
}

/** Links what a recording has kept until now. Numbers have no gaps, so the links say how far that is. */
async function readLinks(sql: Sql, owner: Owner, recordingId: string): Promise<Map<number, Linked>> {
  const { requests } = await getRecording(sql, owner, recordingId);
  const attempts = [];
  const columns = fragment`number, at_us, took_us, fingerprint`;
  for await (const rows of readRows(sql, owner, recordingId, columns, { after: 0, upTo: requests }))
    for (const [number, atUs, tookUs, fingerprint] of rows)
      attempts.push({
        number: Number(number),
        atUs: Number(atUs),
        tookUs: Number(tookUs),
        fingerprint: String(fingerprint),
      });
  return link(attempts.sort((a, b) => a.atUs - b.atUs || a.number - b.number));
}

const byTime = (a: Alone, b: Alone) => a.atMs - b.atMs || a.number - b.number;

const linked = (alone: Alone, links: Map<number, Linked>): Recorded => ({
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
