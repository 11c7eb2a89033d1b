import type { Database } from './database.ts';
import type { Row, Sql } from './sql.ts';

/** Small enough that nobody waits long for a batch. */
export const batchSize = 1_000;

/** Runs a statement that changes at most `batchSize` rows and returns them, in transactions of its own until none is left. */
export async function inBatches(db: Database, change: (sql: Sql) => Promise<Row[]>): Promise<void> {
  let rows: Row[];
  do rows = await db.write(change);
  while (rows.length === batchSize);
}
