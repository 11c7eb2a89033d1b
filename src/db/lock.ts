import type { Row, Sql } from './sql.ts';

/**
 * Locks a workspace until the transaction ends, for whoever changes it: the row from which the ids of its events come. Each
 * transaction of the kind takes it first.
 */
export const lockChanges = (sql: Sql, workspaceId: number): Promise<Row[]> => sql`
  update sequences set last_id = last_id where workspace_id = ${workspaceId} and kind = 'events'`;
