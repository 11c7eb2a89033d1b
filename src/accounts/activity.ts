import type { Database } from '../db/database.ts';
import type { Owner } from '../lab/key-binding.ts';
import type { RequestOutcome } from '../observe/request-outcome.ts';

interface LastRequest extends Owner {
  atMs: number;
  /** The last error since the last save. */
  error?: { code: string; atMs: number };
}

/** The last requests of members since the last save. A request only changes memory. */
export class Activity {
  #unsaved = new Map<string, LastRequest>();

  /** Notes a request of a key that its owner created. */
  note({ sender, code }: Pick<RequestOutcome, 'sender' | 'code'>, atMs: number): void {
    const origin = sender?.bindings.origin;
    if (!sender || (origin !== 'invite' && origin !== 'signup')) return;
    const { workspaceId, keyId } = sender;
    const error = code === undefined ? this.#unsaved.get(keyId)?.error : { code, atMs };
    this.#unsaved.set(keyId, { workspaceId, keyId, atMs, ...(error && { error }) });
  }

  /** Stores them, at most once a minute for a member, since the service calls it once a minute. */
  async save(db: Database): Promise<void> {
    const saved = this.#unsaved;
    this.#unsaved = new Map();
    // One order for all instances, so that they cannot deadlock.
    const rows = [...saved.values()].sort((a, b) => a.workspaceId - b.workspaceId);
    try {
      if (rows.length > 0)
        await db.write((sql) =>
          Promise.all(
            rows.map(
              (last) => sql`
        update members set
          last_request_at_ms = case when last_request_at_ms > ${last.atMs} then last_request_at_ms else ${last.atMs} end,
          last_error = coalesce(${last.error?.code ?? null}, last_error),
          last_error_at_ms = coalesce(${last.error?.atMs ?? null}, last_error_at_ms)
        where workspace_id = ${last.workspaceId} and id = ${last.keyId}`,
            ),
          ),
        );
    } catch (error) {
      this.#unsaved = new Map([...saved, ...this.#unsaved]);
      throw error;
    }
  }
}
