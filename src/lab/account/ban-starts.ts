import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Database } from '../../db/database.ts';
import type { Sql } from '../../db/sql.ts';
import { toTime } from '../../instant.ts';
import type { Caller } from '../../keys/store.ts';
import type { Decision } from '../../limits/decision.ts';
import { withoutSecrets } from '../../redact.ts';
import type { Owner } from '../bound.ts';
import { maxBanPath } from '../bounds.ts';
import type { BanStart } from './schema.ts';

interface Parts {
  db: Database;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Keeps which requests began bans. Each is written beside its answer, once for a ban. */
export class BanStarts {
  readonly #parts: Parts;
  /** What is being written, by key. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Takes a request with the decision by which it began a ban of its key. */
  note(request: FastifyRequest, { bannedAtMs }: Decision): void {
    const owner = request.sender as Caller;
    const writing = this.#save(owner, request, bannedAtMs).finally(() => {
      if (this.#writing.get(owner.keyId) === writing) this.#writing.delete(owner.keyId);
    });
    this.#writing.set(owner.keyId, writing);
  }

  async #save(owner: Owner, request: FastifyRequest, beganAtMs: number): Promise<void> {
    const { db, log } = this.#parts;
    try {
      await db.write((sql) => saveBanStart(sql, owner, request, beganAtMs));
    } catch (err) {
      log.warn({ err }, 'the request that began a ban could not be kept');
    }
  }

  /** Waits until what began the last ban of a key can be read, or could not be written. */
  async settled(keyId: string): Promise<void> {
    await this.#writing.get(keyId);
  }

  /** Waits for all that is being written. */
  async close(): Promise<void> {
    await Promise.all(this.#writing.values());
  }
}

/** Stores which request began a ban, over that of the ban before, as long as there is the key. */
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

/** Secrets are taken out first: what is cut off may be the part by which one is known. */
const shownPath = (url: string) => withoutSecrets(url.replace(/[?#].*/s, '')).slice(0, maxBanPath);

/** The request that began the ban of a key that began at this time, if it is known. */
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
