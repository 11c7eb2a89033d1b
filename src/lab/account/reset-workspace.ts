import { LRUCache } from 'lru-cache';
import { findKey, unknownKey } from '../../access/keys/store.ts';
import type { Transaction } from '../../db/database.ts';
import { type ContentKind, contentInWords } from '../../db/tables.ts';
import { ApiError } from '../../foundation/errors.ts';
import { dayMs } from '../../foundation/time.ts';
import { grouped } from '../../foundation/words.ts';
import { countToday } from '../../http/idempotency.ts';
import { resetWorkspace } from '../../store/demo/seed.ts';
import { countContent } from '../../store/workspaces/store.ts';
import type { Owner } from '../key-binding.ts';
import { maxResetRows, maxResetsPerDay } from '../lab-bounds.ts';

/** A reset costs hundreds of times as much as other writes, and blocks those of its workspace. */
const pauseMs = 1_000;

/** Lets an instance reset each workspace once a second. */
export class ResetLimiter {
  readonly #last = new LRUCache<number, { request: object; atMs: number }>({ max: 10_000 });
  readonly #stopwatch: () => number;

  /** `stopwatch`: milliseconds of a clock that never goes back. */
  constructor(stopwatch: () => number) {
    this.#stopwatch = stopwatch;
  }

  /** Runs a reset inside its transaction, which may repeat. Throws `rate_limited` if another request reset within the last second. */
  async run<T>(workspaceId: number, request: object, reset: () => Promise<T>): Promise<T> {
    const atMs = this.#stopwatch();
    const last = this.#last.get(workspaceId);
    const other = last?.request === request ? undefined : last;
    if (other && atMs - other.atMs < pauseMs) {
      throw new ApiError(
        'rate_limited',
        'This workspace was reset within the last second. Try again after 1 s.',
        { 'Retry-After': '1' },
      );
    }
    this.#last.set(workspaceId, { request, atMs });
    try {
      return await reset();
    } catch (error) {
      if (other) this.#last.set(workspaceId, other);
      else this.#last.delete(workspaceId);
      throw error;
    }
  }
}

/** Resets the workspace of a key to the demo data. Throws `conflict` beyond `maxResetRows`, and `rate_limited` beyond `maxResetsPerDay`. */
export async function resetOwn(
  sql: Transaction,
  { workspaceId, keyId }: Owner,
): Promise<Record<ContentKind, number>> {
  const key = await findKey(sql, keyId);
  if (!key) throw unknownKey();
  const count = () => countContent(sql, workspaceId, maxResetRows + 1);
  const rows = Object.values(await count()).reduce((sum, ofTable) => sum + ofTable);
  if (rows > maxResetRows) {
    throw new ApiError(
      'conflict',
      `This workspace has more than ${grouped(maxResetRows)} ${contentInWords}, too many to reset with a request. The operator of the service can reset it with the command "petstore workspaces reset ${key.workspace}".`,
    );
  }
  const { atMs } = sql.context;
  if ((await countToday(sql, { workspaceId, id: 'resets' }, 1, atMs)) > maxResetsPerDay) {
    throw new ApiError(
      'rate_limited',
      `Requests have reset this workspace ${grouped(maxResetsPerDay)} times today, the maximum of a day (UTC). Try again tomorrow.`,
      { 'Retry-After': String(Math.ceil((dayMs - (atMs % dayMs)) / 1_000)) },
    );
  }
  await resetWorkspace(sql, { id: workspaceId, name: key.workspace });
  return count();
}
