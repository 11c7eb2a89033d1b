import type { FastifyRequest } from 'fastify';
import { batchSize, inBatches } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import { ApiError } from '../errors.ts';
import type { Answer } from './answer.ts';
import { fieldLines } from './headers.ts';

const maxKeyLength = 255;
/** How long an Idempotency-Key is remembered. */
export const rememberMs = 24 * 60 * 60 * 1000;

/**
 * Runs `run` once for each key: a later request with the same key and fingerprint within 24 h gets the first answer
 * again, marked `Idempotency-Replayed`; one with another fingerprint is refused with `idempotency_key_reused`. All of it
 * happens in the transaction behind `sql`, so what was refused leaves the key unused.
 */
export async function once(
  sql: Sql,
  request: { workspaceId: number; key: string; fingerprint: string; nowMs: number },
  run: () => Promise<Answer>,
): Promise<Answer> {
  const { workspaceId, key, fingerprint, nowMs } = request;
  const [claimed] = await sql`
    insert into idempotency_keys (workspace_id, key, fingerprint, created_at_ms)
    values (${workspaceId}, ${key}, ${fingerprint}, ${nowMs})
    on conflict (workspace_id, key) do update
      set fingerprint = excluded.fingerprint, created_at_ms = excluded.created_at_ms
      where idempotency_keys.created_at_ms <= ${nowMs - rememberMs}
    returning key`;
  if (!claimed) return replay(sql, workspaceId, key, fingerprint);
  const answer = await run();
  await sql`
    update idempotency_keys
    set status = ${answer.status}, headers = ${JSON.stringify(answer.headers)}, body = ${answer.body ?? null}
    where workspace_id = ${workspaceId} and key = ${key}`;
  return answer;
}

async function replay(sql: Sql, workspaceId: number, key: string, fingerprint: string): Promise<Answer> {
  const [first] = await sql`
    select fingerprint, status, headers, body from idempotency_keys
    where workspace_id = ${workspaceId} and key = ${key}`;
  if (!first || first[0] !== fingerprint) {
    throw new ApiError(
      'idempotency_key_reused',
      'This Idempotency-Key was used with another request within the last 24 hours. Take a new key for a new request.',
    );
  }
  return {
    status: Number(first[1]),
    headers: { ...JSON.parse(String(first[2])), 'idempotency-replayed': 'true' },
    body: String(first[3]),
  };
}

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

/**
 * The key of a request: bare, or in double quotes as a structured field string (RFC 8941, section 3.3.3). Undefined
 * where there is none. Throws `invalid_request` for anything else.
 */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const fields = fieldLines(request.raw, 'idempotency-key');
  const [field] = fields;
  if (field === undefined) return undefined;
  const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
    .exec(field)?.[1]
    ?.replace(/\\(["\\])/g, '$1');
  const bare = /^[\x21\x23-\x7e][\x21-\x7e]*$/.exec(field)?.[0];
  const key = quoted ?? bare;
  if (fields.length > 1 || !key || key.length > maxKeyLength) {
    throw new ApiError(
      'invalid_request',
      `Idempotency-Key must stand once and be 1 to ${maxKeyLength} ASCII characters, without spaces or in double quotes.`,
    );
  }
  return key;
}
