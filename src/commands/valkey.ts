import { readConfig } from '../config.ts';
import type { Sql } from '../db/sql.ts';
import { findAccount } from '../limits/accounts.ts';
import type { Account } from '../limits/decision.ts';
import type { Subject } from '../limits/limiter.ts';
import type { Valkey } from '../limits/valkey.ts';
import { reasonOf } from '../limits/valkey-reason.ts';

const connectWithinMs = 2_000;

/**
 * The account of a key: from Valkey where instances share it, and otherwise as a running server saved it last, at most a
 * second ago. Throws if Valkey cannot be reached.
 */
export async function currentAccount(sql: Sql, subject: Subject): Promise<Account | undefined> {
  const { valkeyUrls } = readConfig(process.env);
  if (valkeyUrls.length === 0) return findAccount(sql, subject.workspaceId, subject.id);
  const { findSharedAccount } = await import('../limits/shared-accounts.ts');
  return withValkey(valkeyUrls, (valkey) => findSharedAccount(valkey, subject)).catch((error: Error) => {
    throw new Error(`Valkey cannot be reached, and only it has the counts: ${reasonOf(error, valkeyUrls)}`);
  });
}

/** The later of the two clocks by which bans may have begun. Does not wait long if Valkey cannot be reached. */
export async function latestClockMs(): Promise<number> {
  const { valkeyUrls } = readConfig(process.env);
  const nowMs = Date.now();
  if (valkeyUrls.length === 0) return nowMs;
  const { sharedClockMs } = await import('../limits/shared-accounts.ts');
  return Math.max(nowMs, await withValkey(valkeyUrls, sharedClockMs).catch(() => 0));
}

async function withValkey<T>(urls: string[], work: (valkey: Valkey) => Promise<T>): Promise<T> {
  const { connectValkey, within } = await import('../limits/valkey.ts');
  const valkey = await connectValkey(urls, connectWithinMs);
  try {
    return await within(connectWithinMs, work(valkey));
  } finally {
    valkey.disconnect();
  }
}
