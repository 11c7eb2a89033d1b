import { batchSize, type Database, inBatches } from '../../db/database.ts';
import { fragment, join, type Row, type Sql } from '../../db/sql.ts';
import { ApiError } from '../../foundation/errors.ts';
import { dayMs, toTime } from '../../foundation/time.ts';
import { randomDigits } from '../../keys/key.ts';
import { bind, end, endActive, type Owner, recordings, unbind } from '../key-binding.ts';
import { maxKeptSize, type recorderBounds } from '../lab-bounds.ts';
import { type RecordedRow, sizeOf } from './recorded.ts';
import type { Recording } from './schema.ts';

const rowsPerStatement = 100;
/** How long a recording is kept after it began. */
const keptMs = dayMs;

/** Requests of one recording that are written together. */
export interface RequestBatch {
  workspaceId: number;
  recordingId: string;
  requests: RecordedRow[];
  /** Requests of this recording that exceeded the bounds of memory. */
  leftOut: number;
  /** Whether it was tried before, and may have been written. */
  isRetry: boolean;
}

/** Starts a recording of a key, and ends the one before. Returns its id. */
export async function startRecording(
  sql: Sql,
  owner: Owner,
  name: string,
  nowMs: number,
  expiresAtMs: number,
): Promise<string> {
  const { workspaceId, keyId } = owner;
  const id = `rec_${randomDigits(12)}`;
  await endActive(sql, recordings, owner, nowMs);
  await sql`
    insert into recordings (workspace_id, id, key_id, name, created_at_ms, expires_at_ms, kept, size, left_out)
    values (${workspaceId}, ${id}, ${keyId}, ${name}, ${nowMs}, ${expiresAtMs}, 0, 0, 0)`;
  for (const old of await bind(sql, recordings, owner, id)) await deleteRequests(sql, workspaceId, old);
  await removeBeyond(sql, owner, maxKeptSize);
  return id;
}

/** Removes the oldest recordings of a key until the others hold at most `size` characters. */
async function removeBeyond(sql: Sql, { workspaceId, keyId }: Owner, size: number): Promise<void> {
  const rows = await sql`
    select id, size from recordings where workspace_id = ${workspaceId} and key_id = ${keyId}
    order by created_at_ms desc, id desc`;
  let total = 0;
  for (const [id, own] of rows) {
    total += Number(own);
    if (total <= size) continue;
    await sql`delete from recordings where workspace_id = ${workspaceId} and id = ${String(id)}`;
    await deleteRequests(sql, workspaceId, String(id));
  }
}

/** Ends a recording of a key: nothing is added to it any more. Throws `not_found` if the key has no such recording. */
export async function endRecording(sql: Sql, owner: Owner, id: string, nowMs: number): Promise<void> {
  if (!(await end(sql, recordings, owner, id, nowMs))) noSuchRecording();
  await sql`update recordings set is_final = 1 where workspace_id = ${owner.workspaceId} and id = ${id}`;
}

/** Removes a recording of a key with its requests. Throws `not_found` if the key has no such recording. */
export async function deleteRecording(sql: Sql, { workspaceId, keyId }: Owner, id: string): Promise<void> {
  // Comes first, so that nobody adds requests meanwhile.
  const rows = await sql`
    delete from recordings
    where workspace_id = ${workspaceId} and key_id = ${keyId} and id = ${id} returning id`;
  if (rows.length === 0) noSuchRecording();
  await deleteRequests(sql, workspaceId, id);
  await unbind(sql, recordings, { workspaceId, keyId }, id);
}

/** Removes the requests of a recording and its report. */
async function deleteRequests(sql: Sql, workspaceId: number, id: string): Promise<void> {
  await sql`delete from recorded_requests where workspace_id = ${workspaceId} and recording_id = ${id}`;
  await sql`delete from recording_reports where workspace_id = ${workspaceId} and recording_id = ${id}`;
}

/** The recordings of a key, the newest first. */
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
 * Writes requests of a recording while its row is locked, so that the bounds hold over all instances. It leaves out requests beyond the
 * bounds, those that began after the recording ended, and all once a client has ended it. Returns the end of the recording in
 * milliseconds since 1970; it may still end sooner.
 */
export function keepRequests(
  db: Database,
  { workspaceId, recordingId, requests, leftOut, isRetry }: RequestBatch,
  { maxRecorded, maxRecordedSize }: Pick<typeof recorderBounds, 'maxRecorded' | 'maxRecordedSize'>,
): Promise<number> {
  return db.write(async (sql) => {
    const [row] = await sql`
      update recordings set kept = kept where workspace_id = ${workspaceId} and id = ${recordingId}
      returning kept, size, coalesce(ended_at_ms, expires_at_ms), is_final`;
    if (!row) return Number.NEGATIVE_INFINITY;
    const [kept, size, endMs, isFinal] = row.map(Number) as [number, number, number, number];
    const inTime = requests.filter(({ beganAtMs }) => beganAtMs <= endMs);
    const [first] = inTime;
    if (isRetry && first) {
      const found = await sql`
        select 1 from recorded_requests where workspace_id = ${workspaceId} and recording_id = ${recordingId}
          and at_us = ${first.atUs} and took_us = ${first.tookUs} and facts = ${first.facts}`;
      if (found.length > 0) return endMs;
    }
    const fitting = isFinal ? [] : inTime.slice(0, Math.max(0, maxRecorded - kept));
    let grown = size;
    const written = fitting.filter((one) => {
      const fits = grown + sizeOf(one) <= maxRecordedSize;
      if (fits) grown += sizeOf(one);
      return fits;
    });
    written.sort((a, b) => a.atUs - b.atUs);
    for (let i = 0; i < written.length; i += rowsPerStatement) {
      const rows = written
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
    const more = leftOut + inTime.length - written.length;
    await sql`
      update recordings set kept = kept + ${written.length}, size = ${grown}, left_out = left_out + ${more}
      where workspace_id = ${workspaceId} and id = ${recordingId}`;
    return endMs;
  });
}

/** Removes recordings that began a day ago, with their requests and reports. */
export async function deleteOldRecordings(db: Database, nowMs: number): Promise<void> {
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
  // An older release, which knows no reports, may have removed their recordings.
  await inBatches(
    db,
    (sql) => sql`
      delete from recording_reports where (workspace_id, recording_id) in (
        select r.workspace_id, r.recording_id from recording_reports r
        left join recordings c on c.workspace_id = r.workspace_id and c.id = r.recording_id
        where c.id is null limit ${batchSize})
      returning recording_id`,
  );
}

function noSuchRecording(): never {
  throw new ApiError('not_found', 'This key has no recording with this recordingId.');
}

function toRecording(row: Row): Recording {
  const [id, name, createdAtMs, expiresAtMs, endedAtMs, kept, leftOut] = row;
  return {
    id: String(id),
    ...(name !== '' && { name: String(name) }),
    createdAt: toTime(createdAtMs),
    expiresAt: toTime(expiresAtMs),
    ...(endedAtMs !== null && { endedAt: toTime(endedAtMs) }),
    requests: Number(kept),
    leftOut: Number(leftOut),
  };
}
