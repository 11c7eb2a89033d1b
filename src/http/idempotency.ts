import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { batchSize, type Database, inBatches, type Transaction } from '../db/database.ts';
import { Fragment, fragment, type Sql } from '../db/sql.ts';
import { ApiError, errorAt } from '../foundation/errors.ts';
import { InstallationKey } from '../foundation/settings/secret-key.ts';
import { dayMs, hourMs, toTime } from '../foundation/time.ts';
import { grouped } from '../foundation/words.ts';
import { fieldLines } from './headers.ts';
import type { OperationResponse } from './responses.ts';

export const maxKeyLength = 255;
/** The form of the field: bare, or in double quotes as a structured field string (RFC 8941, section 3.3.3). */
export const keyPattern = `^(?:[!#-~][!-~]{0,${maxKeyLength - 1}}|"(?:[ !#-\\[\\]-~]|\\\\["\\\\]){1,${maxKeyLength}}")$`;
const keyForm = new RegExp(keyPattern);
/** How long an Idempotency-Key is remembered. */
export const rememberHours = 24;
const rememberMs = rememberHours * hourMs;
/** How long a response that contains an API key is stored. */
const sealedMs = hourMs;
/** As a piece of SQL, where Citus takes no value. */
const remembered = new Fragment([String(rememberMs)], []);

/** Deletes of rows of 14 kB, such as the longest responses are, take 80 µs each. */
export const keysPerBatch = 200;

/** How many Idempotency-Keys of an API key are kept, and about how many bytes of them. */
export interface KeptBounds {
  keys: number;
  bytes: number;
}

/** For callers without an API key: other limits bound their requests. */
export const unbounded: KeptBounds = { keys: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };

/** A request with an Idempotency-Key, `text`, which belongs to an API key. */
interface KeyedRequest {
  workspaceId: number;
  keyId: string;
  text: string;
  /** The API in which the keys count, and how many it keeps. */
  api: string;
  bounds: KeptBounds;
  fingerprint: string;
  /** Whether a reset of the workspace keeps the result of the request. Then the request must not take effect twice, even after a reset. */
  outlivesResets: boolean;
  nowMs: number;
  /** Encrypts the stored response, if it has a secret. */
  cipher: AnswerCipher | undefined;
}

/** Encrypts a stored response, and decrypts it at the same place. `open` returns undefined if the text cannot be decrypted. */
export interface AnswerCipher {
  seal(text: string, place: string): string;
  open(sealed: string, place: string): string | undefined;
}

/** The name under which an Idempotency-Key is stored. Headers hold no line break, so the two parts cannot be confused. */
export const ownKey = ({ keyId, text }: Pick<KeyedRequest, 'keyId' | 'text'>) => `${keyId}\n${text}`;

/**
 * Claims the Idempotency-Key of a request, in its transaction. Undefined: handle the request, then call `storeResponse`. Else the first
 * response. Throws `idempotency_key_reused` for another request, and `conflict` beyond the bounds: removing a key early would break it.
 */
export async function claimIdempotencyKey(
  sql: Transaction,
  request: KeyedRequest,
): Promise<OperationResponse | undefined> {
  const { workspaceId, bounds, fingerprint, nowMs } = request;
  const [claimed] = await sql`
    insert into idempotency_keys (workspace_id, key, fingerprint, created_at_ms, resets)
    select ${workspaceId}, ${ownKey(request)}, ${fingerprint}, ${nowMs},
      (select resets from workspaces where id = ${workspaceId})
    where not exists (
      select 1 from idempotency_hours where ${countedOf(request)}
      group by account having sum(kept) >= ${bounds.keys} or sum(bytes) >= ${bounds.bytes})
    on conflict (workspace_id, key) do update
      set fingerprint = excluded.fingerprint, created_at_ms = excluded.created_at_ms, resets = excluded.resets
      where idempotency_keys.created_at_ms <= excluded.created_at_ms - ${remembered}
        or idempotency_keys.resets < excluded.resets
    returning key`;
  return claimed ? undefined : replay(sql, request);
}

/** Stores the response to a request whose key was claimed. These are the last statements of its transaction. */
export async function storeResponse(
  sql: Transaction,
  request: KeyedRequest,
  response: OperationResponse,
): Promise<void> {
  const { workspaceId, fingerprint, nowMs, cipher } = request;
  const key = ownKey(request);
  const text = response.body ?? null;
  const body = text === null ? null : (cipher?.seal(text, placeOf(request)) ?? text);
  const headers = JSON.stringify(response.headers);
  const bytes = Buffer.byteLength([key, fingerprint, headers, body].join(''));
  const resets = request.outlivesResets ? fragment`null` : fragment`resets`;
  await sql.finalStatements(
    Promise.all([
      sql`
        update idempotency_keys
        set status = ${response.status}, headers = ${headers}, body = ${body}, resets = ${resets}
        where workspace_id = ${workspaceId} and key = ${key}`,
      sql`
        insert into idempotency_hours (workspace_id, account, hour, kept, bytes)
        values (${workspaceId}, ${accountOf(request)}, ${hourOf(nowMs)}, 1, ${bytes})
        on conflict (workspace_id, account, hour) do update
          set kept = idempotency_hours.kept + 1, bytes = idempotency_hours.bytes + excluded.bytes`,
    ]),
  );
}

/** The response that is kept, or the refusal of a key that cannot be used. */
async function replay(sql: Sql, request: KeyedRequest): Promise<OperationResponse> {
  const { workspaceId, nowMs } = request;
  const [known] = await sql`
    select fingerprint, status, headers, body from idempotency_keys
    where workspace_id = ${workspaceId} and key = ${ownKey(request)} and created_at_ms > ${nowMs - rememberMs}
      and (resets is null or resets >= (select resets from workspaces where id = ${workspaceId}))`;
  if (!known) throw await tooManyKept(sql, request);
  const [fingerprint, status, headers, kept] = known;
  if (fingerprint !== request.fingerprint)
    throw new ApiError(
      'idempotency_key_reused',
      `This Idempotency-Key was used with another request within the last ${workspaceId === noWorkspace ? 'hour' : `${rememberHours} hours`}. Use a new key for a new request.`,
    );
  const body = request.cipher ? request.cipher.open(String(kept), placeOf(request)) : String(kept);
  if (body === undefined)
    throw new ApiError('conflict', 'The first response for this Idempotency-Key can no longer be read.');
  return {
    status: Number(status),
    headers: { ...JSON.parse(String(headers)), 'Idempotency-Replayed': 'true' },
    body,
  };
}

/** Whether the Idempotency-Key of a request is in use, as far as committed. */
export async function isKept(sql: Sql, request: KeyedRequest): Promise<boolean> {
  const rows = await sql`
    select 1 from idempotency_keys where workspace_id = ${request.workspaceId} and key = ${ownKey(request)}
      and created_at_ms > ${request.nowMs - rememberMs}`;
  return rows.length > 0;
}

const hourOf = (ms: number) => Math.floor(ms / hourMs);

/** Where the keys of an API key count. */
const accountOf = ({ api, keyId }: Pick<KeyedRequest, 'api' | 'keyId'>) => `${api} ${keyId}`;

/** The hours whose keys count: all of the oldest, none ahead of the clock except the next one, because clocks differ. */
function countedOf(request: KeyedRequest): Fragment {
  const hour = hourOf(request.nowMs);
  return fragment`workspace_id = ${request.workspaceId} and account = ${accountOf(request)}
    and hour between ${hour - rememberHours} and ${hour + 1}`;
}

/** The error for a new key beyond the bounds. It says when enough old keys will be deleted. */
async function tooManyKept(sql: Sql, request: KeyedRequest): Promise<ApiError> {
  const { api, bounds, nowMs } = request;
  const rows = await sql`
    select hour, kept, bytes from idempotency_hours where ${countedOf(request)} order by hour desc`;
  // Adds up the hours from the newest. There is room when the hour that reaches the bound has expired.
  const sum = { keys: 0, bytes: 0 };
  const [hour = hourOf(nowMs)] =
    rows.find(([, kept, bytes]) => {
      sum.keys += Number(kept);
      sum.bytes += Number(bytes);
      return sum.keys >= bounds.keys || sum.bytes >= bounds.bytes;
    }) ?? [];
  const roomAt = toTime((Number(hour) + rememberHours + 1) * hourMs);
  return new ApiError(
    'conflict',
    `This API key has reached its limit of Idempotency-Keys below /${api}: at most ${grouped(bounds.keys)} in ${rememberHours} hours, and ${grouped(bounds.bytes)} bytes with their responses. Wait until ${roomAt}, or send the request without Idempotency-Key, but then do not retry it.`,
  );
}

const placeOf = (request: KeyedRequest) => `${request.workspaceId} ${ownKey(request)}`;

const retryInUseAfterSeconds = 1;

/** The refusal of a request whose Idempotency-Key belongs to one that is in progress. */
export const idempotencyKeyInUse = () =>
  new ApiError(
    'idempotency_key_in_use',
    `A request with this Idempotency-Key is still in progress. Send the request again after ${retryInUseAfterSeconds} s to get its response.`,
    { 'Retry-After': String(retryInUseAfterSeconds) },
  );

/** Runs `work` unless a request under the same key is in progress on this instance: then `idempotency_key_in_use`. */
export async function rejectConcurrent<T>(
  inFlight: Set<string>,
  key: string,
  work: () => Promise<T>,
): Promise<T> {
  if (inFlight.has(key)) throw idempotencyKeyInUse();
  inFlight.add(key);
  try {
    return await work();
  } finally {
    inFlight.delete(key);
  }
}

/** Adds to a count of this day (UTC), in the table of the counts of Idempotency-Keys, which keeps them for a day. Returns the sum. */
export const countToday = countIn(dayMs);
/** The same for this hour. */
export const countThisHour = countIn(hourMs);

function countIn(lengthMs: number) {
  return async (sql: Sql, owner: { workspaceId: number; id: string }, more: number, nowMs: number) => {
    const hour = Math.floor(nowMs / lengthMs) * (lengthMs / hourMs);
    const [row] = await sql`
      insert into idempotency_hours (workspace_id, account, hour, kept, bytes)
      values (${owner.workspaceId}, ${owner.id}, ${hour}, ${more}, 0)
      on conflict (workspace_id, account, hour) do update set kept = idempotency_hours.kept + excluded.kept
      returning kept`;
    return Number(row?.[0]);
  };
}

/** Forgets keys that are no longer remembered, in all workspaces. */
export async function forgetOldIdempotencyKeys(db: Database, nowMs: number): Promise<void> {
  await inBatches(
    db,
    (sql) => sql`
      delete from idempotency_keys where (workspace_id, key) in (
        select workspace_id, key from idempotency_keys
        where created_at_ms <= ${nowMs - rememberMs}
          or (workspace_id = ${noWorkspace} and created_at_ms <= ${nowMs - sealedMs}) limit ${keysPerBatch})
      returning key`,
    keysPerBatch,
  );
  await inBatches(
    db,
    (sql) => sql`
      delete from idempotency_hours where (workspace_id, account, hour) in (
        select workspace_id, account, hour from idempotency_hours
        where hour < ${hourOf(nowMs) - rememberHours} limit ${batchSize})
      returning hour`,
  );
}

/** Whose stored responses contain API keys. */
const noWorkspace = 0;
/** The least length of an Idempotency-Key for them: callers without an API key share these, so nobody may guess one. A UUID is longer. */
export const minSealedKeyLength = 32;

/**
 * How the response to a request is stored if it contains an API key: sealed under the Idempotency-Key itself, of which only the hash is
 * stored. So neither the storage nor a backup reveals the response. Throws `invalid_request` for a key that others could guess.
 */
export function sealedUnder(text: string) {
  if (text.length < minSealedKeyLength)
    throw errorAt(
      { header: 'Idempotency-Key' },
      'invalid_request',
      `For this operation Idempotency-Key must be a UUID, or have at least ${minSealedKeyLength} random characters, because the response contains an API key.`,
    );
  return { workspaceId: noWorkspace, text: hash('sha256', text), cipher: new InstallationKey(text) };
}

/** The key of a request. Undefined where there is none. Throws `invalid_request` for what has another form. */
export function readIdempotencyKey(request: FastifyRequest): string | undefined {
  const fields = fieldLines(request.raw, 'idempotency-key');
  const [field] = fields;
  if (field === undefined) return undefined;
  if (fields.length > 1 || !keyForm.test(field)) {
    throw errorAt(
      { header: 'Idempotency-Key' },
      'invalid_request',
      `Idempotency-Key must be sent once and be 1 to ${maxKeyLength} ASCII characters, without spaces or in double quotes.`,
    );
  }
  return field.startsWith('"') ? field.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : field;
}
