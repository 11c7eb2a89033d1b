import type { FastifyRequest } from 'fastify';
import { batchSize, inBatches } from '../db/batches.ts';
import type { Database, Transaction } from '../db/database.ts';
import { Fragment, type Sql } from '../db/sql.ts';
import { ApiError } from '../errors.ts';
import { withDocumentedNames } from '../field-names.ts';
import type { Answer } from './answer.ts';
import { fieldLines } from './headers.ts';

export const maxKeyLength = 255;
/** The form of the field: bare, or in double quotes as a structured field string (RFC 8941, section 3.3.3). */
export const keyPattern = `^(?:[!#-~][!-~]{0,${maxKeyLength - 1}}|"(?:[ !#-\\[\\]-~]|\\\\["\\\\]){1,${maxKeyLength}}")$`;
const keyForm = new RegExp(keyPattern);
/** How long an Idempotency-Key is remembered. */
export const rememberHours = 24;
const rememberMs = rememberHours * 60 * 60 * 1000;
/** As a piece of SQL, where Citus takes no value. */
const remembered = new Fragment([String(rememberMs)], []);

/** One attempt at a request under an Idempotency-Key, `text`, which belongs to an API key. */
export interface Attempt {
  workspaceId: number;
  keyId: string;
  text: string;
  fingerprint: string;
  nowMs: number;
  /** How the answer is kept, if not as it is. */
  cover: Cover | undefined;
}

/** Hides what is kept, and shows it again at the same place: undefined if that is no longer possible. */
export interface Cover {
  hide(text: string, place: string): string;
  show(hidden: string, place: string): string | undefined;
}

/** The name under which an Idempotency-Key is stored. Header fields hold no line break, so the two parts cannot be confused. */
export const ownKey = ({ keyId, text }: Pick<Attempt, 'keyId' | 'text'>) => `${keyId}\n${text}`;

/**
 * Runs `run` once for each Idempotency-Key of an API key: a later request with the same fingerprint within `rememberHours` gets the
 * first answer again, marked `Idempotency-Replayed`; one with another fingerprint is refused with `idempotency_key_reused`.
 * All of it happens in the transaction behind `sql`, so a refused request leaves the key unused.
 */
export async function once(sql: Transaction, attempt: Attempt, run: () => Promise<Answer>): Promise<Answer> {
  const { workspaceId, text, fingerprint, nowMs } = attempt;
  const key = ownKey(attempt);
  const forgottenMs = nowMs - rememberMs;
  // Older versions stored the text alone. If the fingerprint is equal, the request has been answered.
  const [claimed] = await sql`
    insert into idempotency_keys (workspace_id, key, fingerprint, created_at_ms)
    select ${workspaceId}, ${key}, ${fingerprint}, ${nowMs}
    where not exists (
      select 1 from idempotency_keys
      where workspace_id = ${workspaceId} and key = ${text} and fingerprint = ${fingerprint}
        and created_at_ms > ${forgottenMs})
    on conflict (workspace_id, key) do update
      set fingerprint = excluded.fingerprint, created_at_ms = excluded.created_at_ms
      where idempotency_keys.created_at_ms <= excluded.created_at_ms - ${remembered}
    returning key`;
  if (!claimed) return replay(sql, attempt);
  const answer = await run();
  const body =
    answer.body === undefined ? null : (attempt.cover?.hide(answer.body, placeOf(attempt)) ?? answer.body);
  await sql.last(sql`
    update idempotency_keys
    set status = ${answer.status}, headers = ${JSON.stringify(answer.headers)}, body = ${body}
    where workspace_id = ${workspaceId} and key = ${key}`);
  return answer;
}

async function replay(sql: Sql, attempt: Attempt): Promise<Answer> {
  const { workspaceId, text, fingerprint, nowMs } = attempt;
  const [first] = await sql`
    select status, headers, body from idempotency_keys
    where workspace_id = ${workspaceId} and key in (${ownKey(attempt)}, ${text}) and fingerprint = ${fingerprint}
      and created_at_ms > ${nowMs - rememberMs}`;
  if (!first) {
    throw new ApiError(
      'idempotency_key_reused',
      `This Idempotency-Key was used with another request within the last ${rememberHours} hours. Use a new key for a new request.`,
    );
  }
  const [status, headers, kept] = first;
  const body = attempt.cover ? attempt.cover.show(String(kept), placeOf(attempt)) : String(kept);
  if (body === undefined) {
    throw new ApiError('conflict', 'The first answer to this Idempotency-Key can no longer be read.');
  }
  return {
    status: Number(status),
    // Older versions stored the names in lower case.
    headers: { ...withDocumentedNames(JSON.parse(String(headers))), 'Idempotency-Replayed': 'true' },
    body,
  };
}

const placeOf = (attempt: Attempt) => `${attempt.workspaceId} ${ownKey(attempt)}`;

/** Runs `work` unless a request under the same key is being answered by this instance: then `conflict`. */
export async function withoutTwin<T>(inFlight: Set<string>, key: string, work: () => Promise<T>): Promise<T> {
  if (inFlight.has(key)) {
    throw new ApiError(
      'conflict',
      'A request with this Idempotency-Key is being answered. Send it again in a moment.',
    );
  }
  inFlight.add(key);
  try {
    return await work();
  } finally {
    inFlight.delete(key);
  }
}

/** Forgets keys that are no longer remembered, in all workspaces. */
export function forgetOldKeys(db: Database, nowMs: number): Promise<void> {
  return inBatches(
    db,
    (sql) => sql`
      delete from idempotency_keys where (workspace_id, key) in (
        select workspace_id, key from idempotency_keys
        where created_at_ms <= ${nowMs - rememberMs} limit ${batchSize})
      returning key`,
  );
}

/** The key of a request. Undefined where there is none. Throws `invalid_request` for what has another form. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const fields = fieldLines(request.raw, 'idempotency-key');
  const [field] = fields;
  if (field === undefined) return undefined;
  if (fields.length > 1 || !keyForm.test(field)) {
    throw new ApiError(
      'invalid_request',
      `Idempotency-Key must be sent once and be 1 to ${maxKeyLength} ASCII characters, without spaces or in double quotes.`,
    );
  }
  return field.startsWith('"') ? field.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : field;
}
