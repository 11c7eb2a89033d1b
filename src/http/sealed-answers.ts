import { hash } from 'node:crypto';
import { batchSize, type Database, inBatches } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import { ApiError, errorAt } from '../foundation/errors.ts';
import { deriveKey, openWith, sealWith } from '../foundation/settings/secret-key.ts';
import { hourMs } from '../foundation/time.ts';
import type { OperationResponse } from './responses.ts';

/** The least length of an Idempotency-Key here: callers without a key share them, so nobody may guess one. A UUID is longer. */
export const minSealedKeyLength = 32;
/** How long a sealed response is stored. */
export const sealedHours = 1;
const sealedMs = sealedHours * hourMs;

/** A request whose response has an API key, with its Idempotency-Key `text`. */
interface SealedRequest {
  /** The API key that sent it; empty without one. */
  keyId: string;
  text: string;
  fingerprint: string;
  nowMs: number;
}

/** Throws `invalid_request` for an Idempotency-Key that others could guess. */
export function assertUnguessable(text: string): void {
  if (text.length < minSealedKeyLength)
    throw errorAt(
      { header: 'Idempotency-Key' },
      'invalid_request',
      `For this operation Idempotency-Key must be a UUID, or have at least ${minSealedKeyLength} random characters, because the response contains an API key.`,
    );
}

/**
 * Claims the Idempotency-Key of a request, in its transaction. Undefined: handle the request, then call `sealAnswer`. Else the first
 * response. Throws `idempotency_key_reused` for another request. Neither the value nor the response can be read from the storage.
 */
export async function claimSealed(
  sql: Sql,
  request: SealedRequest,
  status: number,
): Promise<OperationResponse | undefined> {
  const id = idOf(request);
  const [claimed] = await sql`
    insert into sealed_answers (id, created_at_ms) values (${id}, ${request.nowMs})
    on conflict (id) do update set created_at_ms = excluded.created_at_ms, sealed = null
      where sealed_answers.created_at_ms <= ${request.nowMs - sealedMs}
    returning id`;
  if (claimed) return undefined;
  const [row] = await sql`select sealed from sealed_answers where id = ${id}`;
  const body = openWith(keyOf(request), String(row?.[0]), request.fingerprint);
  if (body === undefined)
    throw new ApiError(
      'idempotency_key_reused',
      'This Idempotency-Key was used with another request within the last hour. Use a new one for a new request.',
    );
  return { status, headers: { 'Idempotency-Replayed': 'true' }, body };
}

/** Stores the response to a request whose key was claimed. */
export async function sealAnswer(sql: Sql, request: SealedRequest, { body = '' }: OperationResponse) {
  const sealed = sealWith(keyOf(request), body, request.fingerprint);
  await sql`update sealed_answers set sealed = ${sealed} where id = ${idOf(request)}`;
}

/** Deletes responses that are no longer needed. */
export const forgetSealedAnswers = (db: Database, nowMs: number): Promise<void> =>
  inBatches(
    db,
    (sql) => sql`
      delete from sealed_answers where id in (
        select id from sealed_answers where created_at_ms <= ${nowMs - sealedMs} limit ${batchSize})
      returning id`,
  );

const idOf = ({ keyId, text }: SealedRequest) => hash('sha256', `${keyId}\n${text}`);

/** Only the value gives the key. Its stored hash does not. */
const keyOf = ({ keyId, text }: SealedRequest) => deriveKey(text, `answer ${keyId}`);
