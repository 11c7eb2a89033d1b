import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Caller } from '../../access/keys/store.ts';
import type { Decision } from '../../access/limits/decision.ts';
import type { Database } from '../../db/database.ts';
import type { Sql } from '../../db/sql.ts';
import { withoutSecrets } from '../../foundation/redact.ts';
import { toTime } from '../../foundation/time.ts';
import type { Owner } from '../key-binding.ts';
import { maxBanPath } from '../lab-bounds.ts';
import type { BanStart } from './schema.ts';

/** Stores which requests began bans. Each is written while its response is sent, once for a ban. */
export class BanStarts {
  readonly #db: Database;
  readonly #log: Pick<FastifyBaseLogger, 'warn'>;
  /** Unfinished writes, by key. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(db: Database, log: Pick<FastifyBaseLogger, 'warn'>) {
    this.#db = db;
    this.#log = log;
  }

  /** Stores a request whose decision began a ban of its key. */
  note(request: FastifyRequest, { bannedAtMs }: Decision): void {
    const owner = request.sender as Caller;
    const writing = this.#save(owner, request, bannedAtMs).finally(() => {
      if (this.#writing.get(owner.keyId) === writing) this.#writing.delete(owner.keyId);
    });
    this.#writing.set(owner.keyId, writing);
  }

  async #save(owner: Owner, request: FastifyRequest, beganAtMs: number): Promise<void> {
    try {
      await this.#db.write((sql) => saveBanStart(sql, owner, request, beganAtMs));
    } catch (err) {
      this.#log.warn({ err }, 'the request that started a ban could not be stored');
    }
  }

  /** Waits until the request that began the last ban of a key was written, or could not be. */
  async settled(keyId: string): Promise<void> {
    await this.#writing.get(keyId);
  }

  /** Waits for all unfinished writes. */
  async close(): Promise<void> {
    await Promise.all(this.#writing.values());
  }
}

/** Replaces the request of the ban before. Does nothing if the key was removed. */
const saveBanStart = (
  sql: Sql,
  { workspaceId, keyId }: Owner,
  { id, method, raw }: FastifyRequest,
  beganAtMs: number,
) => sql`
  insert into ban_starts (workspace_id, key_id, began_at_ms, request_id, method, path)
  select workspace_id, id, ${beganAtMs}, ${withoutSecrets(id)}, ${method}, ${shownPath(raw.url as string)}
  from api_keys where workspace_id = ${workspaceId} and id = ${keyId}
  on conflict (workspace_id, key_id) do update set
    began_at_ms = excluded.began_at_ms, request_id = excluded.request_id,
    method = excluded.method, path = excluded.path`;

/** Secrets are removed before the path is cut: a part of one might not be recognized. */
const shownPath = (url: string) => withoutSecrets(url.replace(/[?#].*/s, '')).slice(0, maxBanPath);

/** Finds the request that began the ban of a key at a time. */
export async function findBanStart(
  sql: Sql,
  { workspaceId, keyId }: Owner,
  beganAtMs: number,
): Promise<BanStart | undefined> {
  const [row] = await sql`
    select request_id, method, path from ban_starts
    where workspace_id = ${workspaceId} and key_id = ${keyId} and began_at_ms = ${beganAtMs}`;
  if (!row) return undefined;
  const [requestId, method, path] = row.map(String) as [string, string, string];
  return { requestId, method, path, at: toTime(beganAtMs) };
}
