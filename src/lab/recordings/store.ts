import { randomDigits } from '../../access/keys/store.ts';
import { batchSize, type Database, inBatches } from '../../db/database.ts';
import { type Fragment, fragment, join, type Row, type Sql } from '../../db/sql.ts';
import { dayMs, toTime } from '../../foundation/time.ts';
import { countToday } from '../../http/idempotency.ts';
import { bind, end, endActive, type Owner, recordings, unbind } from '../key-binding.ts';
import { maxKept, maxKeptSize, type recorderBounds } from '../lab-bounds.ts';
import { type RecordedRow, sizeOf } from './recorded-request.ts';
import type { Recording } from './schema.ts';

const rowsPerStatement = 100;
/** Deletes of rows of 16 kB, the longest, take 2 ms. */
const requestsPerBatch = 200;

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

/** Starts a recording of a key, ends the one before, and removes the oldest ones. Returns its id. */
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
  await removeBeyond(sql, owner, id);
  await bind(sql, recordings, owner, id);
  return id;
}

/** Removes the oldest recordings of a key beside a new one: all beyond `maxKept` recordings or `maxKeptSize` characters. */
async function removeBeyond(sql: Sql, { workspaceId, keyId }: Owner, newId: string): Promise<void> {
  const rows = await sql`
    select id, size from recordings where workspace_id = ${workspaceId} and key_id = ${keyId} and id <> ${newId}
    order by created_at_ms desc, id desc`;
  let total = 0;
  for (const [i, [id = '', size]] of rows.entries()) {
    total += Number(size);
    if (i >= maxKept - 1 || total > maxKeptSize)
      await remove(sql, fragment`workspace_id = ${workspaceId} and id = ${id}`);
  }
}

/** Nobody sees removed recordings, since they belong to no key. `deleteRemoved` deletes them soon, in short transactions. */
const remove = (sql: Sql, some: Fragment) => sql`
  update recordings set key_id = '', created_at_ms = 0 where ${some} returning id`;

/** Ends a recording of a key: nothing is added to it any more. Throws `not_found` if the key has no such recording. */
export async function endRecording(sql: Sql, owner: Owner, id: string, nowMs: number): Promise<void> {
  await end(sql, recordings, owner, id, nowMs);
  await sql`update recordings set is_final = 1 where workspace_id = ${owner.workspaceId} and id = ${id}`;
}

/** Removes a recording of a key with its requests. Throws `not_found` if the key has no such recording. */
export async function deleteRecording(sql: Sql, { workspaceId, keyId }: Owner, id: string): Promise<void> {
  const own = fragment`workspace_id = ${workspaceId} and key_id = ${keyId} and id = ${id}`;
  if ((await remove(sql, own)).length === 0) recordings.noSuch();
  await unbind(sql, recordings, { workspaceId, keyId }, id);
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
  return recording ?? recordings.noSuch();
}

/**
 * Writes requests while the recording is locked, so that the bounds hold over all instances. Leaves out those beyond the bounds or after
 * its end, and all once a client has ended it. Returns its end in milliseconds since 1970; it may still end sooner.
 */
export function keepRequests(
  db: Database,
  { workspaceId, recordingId, requests, leftOut, isRetry }: RequestBatch,
  { maxRecorded, maxRecordedPerDay, maxRecordedSize }: typeof recorderBounds,
  nowMs: number,
): Promise<number> {
  return db.write(async (sql) => {
    const [row] = await sql`
      update recordings set kept = kept where workspace_id = ${workspaceId} and id = ${recordingId} and key_id <> ''
      returning kept, size, coalesce(ended_at_ms, expires_at_ms), is_final, key_id`;
    if (!row) return Number.NEGATIVE_INFINITY;
    const [kept, size, endMs, isFinal] = row.map(Number) as [number, number, number, number];
    const count = (more: number) => countToday(sql, { workspaceId, id: `recorded ${row[4]}` }, more, nowMs);
    const room = Math.min(maxRecorded - kept, maxRecordedPerDay - (await count(0)));
    const inTime = requests.filter(({ beganAtMs }) => beganAtMs <= endMs);
    const [first] = inTime;
    if (isRetry && first) {
      const found = await sql`
        select 1 from recorded_requests where workspace_id = ${workspaceId} and recording_id = ${recordingId}
          and at_us = ${first.atUs} and took_us = ${first.tookUs} and facts = ${first.facts}`;
      if (found.length > 0) return endMs;
    }
    const fitting = isFinal ? [] : inTime.slice(0, Math.max(0, room));
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
    await count(written.length);
    return endMs;
  });
}

/** Removes recordings that began a day ago. */
export async function deleteOldRecordings(db: Database, nowMs: number): Promise<void> {
  const old = fragment`
    select workspace_id, id from recordings where created_at_ms <= ${nowMs - dayMs} and key_id <> '' limit ${batchSize}`;
  await inBatches(db, (sql) => remove(sql, fragment`(workspace_id, id) in (${old})`));
  await deleteRemoved(db);
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

/** Deletes removed recordings with their requests. */
export async function deleteRemoved(db: Database): Promise<void> {
  const removed = fragment`c.created_at_ms = 0 and c.key_id = ''`;
  const own = fragment`r.workspace_id = c.workspace_id and r.recording_id = c.id`;
  if ((await db.read`select 1 from recordings c where ${removed} limit 1`).length === 0) return;
  const deleteRequests = (sql: Sql) => sql`
    delete from recorded_requests where (workspace_id, recording_id, number) in (
      select r.workspace_id, r.recording_id, r.number from recordings c join recorded_requests r on ${own}
      where ${removed} limit ${requestsPerBatch})
    returning number`;
  await inBatches(db, deleteRequests, requestsPerBatch);
  // Another instance may still delete requests of some.
  await inBatches(
    db,
    (sql) => sql`
      delete from recordings where (workspace_id, id) in (
        select workspace_id, id from recordings c
        where ${removed} and not exists (select 1 from recorded_requests r where ${own}) limit ${batchSize})
      returning id`,
  );
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
