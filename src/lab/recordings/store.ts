import { batchSize, inBatches } from '../../db/batches.ts';
import type { Database } from '../../db/database.ts';
import { fragment, join, type Row, type Sql } from '../../db/sql.ts';
import { ApiError } from '../../errors.ts';
import { toTime } from '../../instant.ts';
import { randomDigits } from '../../keys/key.ts';
import { bind, end, endActive, type Owner, recordings, unbind } from '../bound.ts';
import { dayInSeconds, maxKeptSize } from '../bounds.ts';
import { sizeOf } from './recorded.ts';
import type { Batch, RecorderBounds } from './recorder.ts';
import type { Recording } from './schema.ts';

const rowsPerStatement = 100;
/** How long a recording is kept after it began. */
const keptMs = dayInSeconds * 1_000;

/** Begins a recording of a key, and ends the one before. */
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

/** Removes the oldest recordings of a key, until the others hold at most `size` characters. */
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

/** Ends a recording of a key. Throws `not_found` if the key has no such recording. */
export async function endRecording(sql: Sql, owner: Owner, id: string, nowMs: number): Promise<void> {
  if (!(await end(sql, recordings, owner, id, nowMs))) noSuchRecording();
}

/** Removes a recording of a key with all that was kept. Throws `not_found` if the key has no such recording. */
export async function deleteRecording(sql: Sql, { workspaceId, keyId }: Owner, id: string): Promise<void> {
  // First, so that nobody adds to it any more.
  const rows = await sql`
    delete from recordings
    where workspace_id = ${workspaceId} and key_id = ${keyId} and id = ${id} returning id`;
  if (rows.length === 0) noSuchRecording();
  await deleteRequests(sql, workspaceId, id);
  await unbind(sql, recordings, { workspaceId, keyId }, id);
}

const deleteRequests = (sql: Sql, workspaceId: number, id: string) => sql`
  delete from recorded_requests where workspace_id = ${workspaceId} and recording_id = ${id}`;

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
 * Writes requests of a recording, in a transaction that holds its row, so that all instances count as one: as many as it may
 * keep, and none that began after its end. Returns until when requests may begin that the recording takes: it may still end sooner.
 */
export function keepRequests(
  db: Database,
  { workspaceId, recordingId, requests, leftOut, isRetry }: Batch,
  { maxRecorded, maxRecordedSize }: Pick<RecorderBounds, 'maxRecorded' | 'maxRecordedSize'>,
): Promise<number> {
  return db.write(async (sql) => {
    const [row] = await sql`
      update recordings set kept = kept where workspace_id = ${workspaceId} and id = ${recordingId}
      returning kept, size, coalesce(ended_at_ms, expires_at_ms)`;
    if (!row) return Number.NEGATIVE_INFINITY;
    const [kept, size, endMs] = row.map(Number) as [number, number, number];
    const inTime = requests.filter(({ beganAtMs }) => beganAtMs <= endMs);
    const [first] = inTime;
    if (isRetry && first) {
      const found = await sql`
        select 1 from recorded_requests where workspace_id = ${workspaceId} and recording_id = ${recordingId}
          and at_us = ${first.atUs} and took_us = ${first.tookUs} and facts = ${first.facts}`;
      if (found.length > 0) return endMs;
    }
    const fitting = inTime.slice(0, Math.max(0, maxRecorded - kept));
    let grown = size;
    const taken = fitting.filter((one) => {
      const isTaken = grown + sizeOf(one) <= maxRecordedSize;
      if (isTaken) grown += sizeOf(one);
      return isTaken;
    });
    taken.sort((a, b) => a.atUs - b.atUs);
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
      update recordings set kept = kept + ${taken.length}, size = ${grown}, left_out = left_out + ${more}
      where workspace_id = ${workspaceId} and id = ${recordingId}`;
    return endMs;
  });
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
