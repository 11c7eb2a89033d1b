import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { DatabaseError, type PoolClient } from 'pg';
import { newStorageCounts } from '../../src/db/database.ts';
import { Statements } from '../../src/db/postgres-statements.ts';
import { PostgresTransaction } from '../../src/db/postgres-transaction.ts';

/** The response of a server after a statement of the transaction has failed. */
const aborted = Object.assign(new DatabaseError('aborted', 0, 'error'), { code: '25P02' });
const byZero = Object.assign(new DatabaseError('division by zero', 0, 'error'), { code: '22012' });

test('a connection that failed to prepare a statement is closed, also if the error arrives with the rollback', async () => {
  const sent: string[] = [];
  const released: unknown[] = [];
  const late = Promise.withResolvers<never>();
  const answers: Record<string, () => Promise<unknown>> = {
    'select 1 / 0': () => Promise.reject(byZero),
    'select 4711': () => late.promise,
    rollback: async () => late.reject(aborted),
  };
  const client = {
    connection: { stream: new PassThrough() },
    query: ({ text }: { text: string }) => {
      sent.push(text);
      return answers[text]?.() ?? Promise.resolve({ rows: [] });
    },
    release: (isToClose: unknown) => released.push(isToClose),
  } as unknown as PoolClient;
  const transaction = new PostgresTransaction({
    ...{
      client,
      statements: new Statements(),
      counts: newStorageCounts(),
      begin: 'begin',
      workspaceId: undefined,
    },
    endMs: performance.now() + 60_000,
  });
  const { sql } = transaction;
  await assert.rejects(Promise.all([sql`select 1 / 0`, sql`select 4711`]), /division by zero/);
  await transaction.rollBack();
  assert.deepEqual(sent, ['begin', 'select 1 / 0', 'select 4711', 'rollback']);
  assert.deepEqual(released, [true]);
});
