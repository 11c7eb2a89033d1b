import { setImmediate as nextTurn } from 'node:timers/promises';
import { fragment, type Row, type Sql } from '../../db/sql.ts';
import type { Owner } from '../bound.ts';

/** Rows that are read at once, without and with bodies. Between them others have their turn. */
const [rowsAtOnce, rowsWithBodiesAtOnce] = [250, 50];

export const withBody = fragment`number, at_us, took_us, facts, body`;

/** Columns of the requests of a recording, the number first, in the order of numbers: those after one, up to another. */
export async function* readRows(
  sql: Sql,
  { workspaceId }: Owner,
  recordingId: string,
  columns: typeof withBody,
  { after, upTo }: { after: number; upTo: number },
): AsyncGenerator<Row[]> {
  const limit = columns === withBody ? rowsWithBodiesAtOnce : rowsAtOnce;
  for (let last = after; last < upTo; ) {
    const rows = await sql`
      select ${columns} from recorded_requests
      where workspace_id = ${workspaceId} and recording_id = ${recordingId} and number > ${last} and number <= ${upTo}
      order by number limit ${limit}`;
    if (rows.length === 0) return;
    last = Number(rows.at(-1)?.[0]);
    yield rows;
    await nextTurn();
  }
}
