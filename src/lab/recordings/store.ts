import { batchSize, inBatches } from '../../db/batches.ts';
import type { Database } from '../../db/database.ts';
import { fragment, join, type Row, type Sql } from '../../db/sql.ts';
import { ApiError } from '../../errors.ts';
import { randomDigits } from '../../keys/key.ts';
import { type Page, type PageRequest, toPage } from '../../page.ts';
import { dayInSeconds, maxKept } from '../bounds.ts';
import type { Owner } from '../rehearsals/store.ts';
import { type Attempt, type Linked, link } from './attempts.ts';
import type { Recorded } from './recorded.ts';
import type { Batch } from './recorder.ts';
import type { Recording } from './schema.ts';
import type { Facts } from './taken.ts';

const rowsPerStatement = 100;
/** How long a recording is kept after it has expired. */
const keptMs = dayInSeconds * 1_000;

/** Begins a recording of a key, and ends the one before. */
export async function startRecording(
  sql: Sql,
  { workspaceId, keyId }: Owner,
  name: string,
  nowMs: number,
  expiresAtMs: number,
): Promise<string> {
  const id = `rec_${randomDigits(12)}`;
  await sql`
    update recordings set ended_at_ms = ${nowMs}
    where workspace_id = ${workspaceId} and key_id = ${keyId} and ended_at_ms is null and expires_at_ms > ${nowMs}`;
  await sql`
    insert into recordings (workspace_id, id, key_id, name, created_at_ms, expires_at_ms, kept, left_out)
    values (${workspaceId}, ${id}, ${keyId}, ${name}, ${nowMs}, ${expiresAtMs}, 0, 0)`;
  const removed = await sql`
    delete from recordings where workspace_id = ${workspaceId} and key_id = ${keyId} and id <> ${id} and id not in (
      select id from recordings where workspace_id = ${workspaceId} and key_id = ${keyId} and id <> ${id}
      order by created_at_ms desc, id desc limit ${maxKept - 1})
    returning id`;
  for (const [old] of removed) await deleteRequests(sql, workspaceId, String(old));
  await sql`
    update api_keys set recording_id = ${id} where workspace_id = ${workspaceId} and id = ${keyId}`;
  return id;
}

/** Ends a recording of a key. Throws `not_found` if the key has no such recording. */
export async function endRecording(
  sql: Sql,
  { workspaceId, keyId }: Owner,
  id: string,
  nowMs: number,
): Promise<void> {
  const rows = await sql`
    update recordings set ended_at_ms = case
      when ended_at_ms is null and expires_at_ms > ${nowMs} then ${nowMs} else ended_at_ms end
    where workspace_id = ${workspaceId} and key_id = ${keyId} and id = ${id} returning id`;
  if (rows.length === 0) noSuchRecording();
  await unbind(sql, { workspaceId, keyId }, id);
}

/** Removes a recording of a key with all that was kept. Throws `not_found` if the key has no such recording. */
export async function deleteRecording(sql: Sql, { workspaceId, keyId }: Owner, id: string): Promise<void> {
  // First, so that nobody adds to it any more.
  const rows = await sql`
    delete from recordings
    where workspace_id = ${workspaceId} and key_id = ${keyId} and id = ${id} returning id`;
  if (rows.length === 0) noSuchRecording();
  await deleteRequests(sql, workspaceId, id);
  await unbind(sql, { workspaceId, keyId }, id);
}

const deleteRequests = (sql: Sql, workspaceId: number, id: string) => sql`
  delete from recorded_requests where workspace_id = ${workspaceId} and recording_id = ${id}`;

const unbind = (sql: Sql, { workspaceId, keyId }: Owner, id: string) => sql`
  update api_keys set recording_id = null
  where workspace_id = ${workspaceId} and id = ${keyId} and recording_id = ${id}`;

/** The recordings of a key that are kept, the newest first. */
export async function listRecordings(
  sql: Sql,
  { workspaceId, keyId }: Owner,
  id?: string,
): Promise<Recording[]> {
  const only = id === undefined ? fragment`` : fragment`and id = ${id}`;
  const rows = await sql`
    select id, name, created_at_ms, expires_at_ms, ended_at_ms, kept, left_out from recordings
    where workspace_id = ${workspaceId} and key_id = ${keyId} ${only}
    order by created_at_ms desc, id desc`;
  return rows.map(toRecording);
}

/** A recording of a key. Throws `not_found` if the key has none with this id. */
export async function getRecording(sql: Sql, owner: Owner, id: string): Promise<Recording> {
  const [recording] = await listRecordings(sql, owner, id);
  return recording ?? noSuchRecording();
}

/**
 * Writes requests of a recording, in a transaction that holds its row, so that all instances count as one: at most `max`, and none
 * that was answered after its end. Returns whether the recording takes nothing more.
 */
export function keepRequests(
  db: Database,
  { workspaceId, recordingId, requests, leftOut, isRetry }: Batch,
  max: number,
): Promise<boolean> {
  return db.write(async (sql) => {
    const [row] = await sql`
      update recordings set kept = kept where workspace_id = ${workspaceId} and id = ${recordingId}
      returning kept, coalesce(ended_at_ms, expires_at_ms)`;
    if (!row) return true;
    const [kept, endMs] = row.map(Number) as [number, number];
    const inTime = requests.filter(({ answeredAtMs }) => answeredAtMs <= endMs);
    const isOver = inTime.length < requests.length;
    const [first] = inTime;
    if (isRetry && first) {
      const found = await sql`
        select 1 from recorded_requests where workspace_id = ${workspaceId} and recording_id = ${recordingId}
          and at_us = ${first.atUs} and took_us = ${first.tookUs} and facts = ${first.facts}`;
      if (found.length > 0) return isOver;
    }
    const taken = inTime.slice(0, Math.max(0, max - kept)).sort((a, b) => a.atUs - b.atUs);
    for (let i = 0; i < taken.length; i += rowsPerStatement) {
      const rows = taken
        .slice(i, i + rowsPerStatement)
        .map(({ atUs, tookUs, fingerprint, facts, body }, j) => {
          const number = kept + i + j + 1;
          return fragment`(${workspaceId}, ${recordingId}, ${number}, ${atUs}, ${tookUs}, ${fingerprint}, ${facts}, ${body})`;
        });
      await sql`
        insert into recorded_requests
          (workspace_id, recording_id, number, at_us, took_us, fingerprint, facts, body)
        values ${join(rows, ', ')}`;
    }
    const more = leftOut + inTime.length - taken.length;
    await sql`
      update recordings set kept = kept + ${taken.length}, left_out = left_out + ${more}
      where workspace_id = ${workspaceId} and id = ${recordingId}`;
    return isOver;
  });
}

/** What is kept of a recording of a key, in the order of time. Throws `not_found` if the key has no such recording. */
export async function readRecorded(sql: Sql, owner: Owner, recordingId: string): Promise<Recorded[]> {
  const links = await readLinks(sql, owner, recordingId);
  const rows = await sql`
    select number, at_us, took_us, facts, body from recorded_requests
    where workspace_id = ${owner.workspaceId} and recording_id = ${recordingId} order by at_us, number`;
  return rows.filter((row) => isLinked(row, links)).map((row) => toRecorded(row, links));
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
    select number, at_us, took_us, facts, body from recorded_requests
    where workspace_id = ${owner.workspaceId} and recording_id = ${recordingId} and number > ${after}
    order by number limit ${limit + 1}`;
  const linked = rows.filter((row) => isLinked(row, links));
  return toPage(linked, limit, (row) => toRecorded(row, links));
}

async function readLinks(sql: Sql, owner: Owner, recordingId: string): Promise<Map<number, Linked>> {
  await getRecording(sql, owner, recordingId);
  const rows = await sql`
    select number, at_us, took_us, fingerprint from recorded_requests
    where workspace_id = ${owner.workspaceId} and recording_id = ${recordingId} order by at_us, number`;
  return link(
    rows.map(
      ([number, atUs, tookUs, fingerprint]): Attempt => ({
        number: Number(number),
        atUs: Number(atUs),
        tookUs: Number(tookUs),
        fingerprint: String(fingerprint),
      }),
    ),
  );
}

/** Removes recordings that began a day ago, with what was kept. */
export async function forgetOldRecordings(db: Database, nowMs: number): Promise<void> {
  const old = fragment`select workspace_id, id from recordings where created_at_ms <= ${nowMs - keptMs}`;
  await inBatches(
    db,
    (sql) => sql`
      delete from recorded_requests where (workspace_id, recording_id, number) in (
        select r.workspace_id, r.recording_id, r.number from recorded_requests r
        join (${old}) gone on gone.workspace_id = r.workspace_id and gone.id = r.recording_id limit ${batchSize})
      returning number`,
  );
  await inBatches(
    db,
    (sql) => sql`delete from recordings where (workspace_id, id) in (${old} limit ${batchSize}) returning id`,
  );
}

function noSuchRecording(): never {
  throw new ApiError('not_found', 'This key has no recording with this recordingId.');
}

/** Each statement has its own snapshot: what came after the first is left to the next reader. */
const isLinked = ([number]: Row, links: Map<number, Linked>) => links.has(Number(number));

function toRecorded([number, atUs, tookUs, facts, body]: Row, links: Map<number, Linked>): Recorded {
  return {
    ...(JSON.parse(String(facts)) as Facts),
    ...(links.get(Number(number)) as Linked),
    number: Number(number),
    atMs: Number(atUs) / 1_000,
    tookMs: Number(tookUs) / 1_000,
    ...(body !== null && body !== undefined && { body: String(body) }),
  };
}

function toRecording(row: Row): Recording {
  const [id, name, createdAtMs, expiresAtMs, endedAtMs, kept, leftOut] = row;
  return {
    id: String(id),
    ...(name !== '' && { name: String(name) }),
    createdAt: timeOf(createdAtMs),
    expiresAt: timeOf(expiresAtMs),
    ...(endedAtMs !== null && { endedAt: timeOf(endedAtMs) }),
    requests: Number(kept),
    leftOut: Number(leftOut),
  };
}

const timeOf = (ms: unknown) => new Date(Number(ms)).toISOString();
