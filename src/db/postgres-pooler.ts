import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ClientConfig } from 'pg';
import { StorageUnavailableError } from '../foundation/errors.ts';
import { ConfigError } from '../foundation/settings/setting.ts';
import { GuardedClient } from './postgres-client.ts';
import { attemptPostgres, missesStatement } from './postgres-errors.ts';
import type { Row } from './sql.ts';

/** How long the second connection may wait. It waits if the pooler has only one connection to the server. */
const turnMs = 200;

/** PgBouncer refuses these settings of a connection. */
const refusedLimit = /startup parameter: (lock_timeout|idle_in_transaction_session_timeout)/;
/** Other refusals of PgBouncer, and the remedy. */
const advice = [
  [/statement pooling mode/, 'Set pool_mode = transaction in PgBouncer.'],
  [
    /startup parameter/,
    'Take it out of the address, and set it on the role by "alter role … set …" if it is needed.',
  ],
] as const;
const needsStatements =
  'the connection pooler does not keep prepared statements. PgBouncer does from version 1.21 on: set max_prepared_statements = 200 in it.';

/** How long, in milliseconds, the server lets a statement wait for a lock, and a transaction for its next statement. */
export type Limits = Required<Pick<ClientConfig, 'lock_timeout' | 'idle_in_transaction_session_timeout'>>;

/** The SQL that begins a transaction. It sets its limits itself, because a pooler may not keep those of a connection. */
export const beginWithin = (limits: Limits): string =>
  [
    'begin isolation level read committed',
    ...Object.entries(limits).map(([name, ms]) => `set local ${name} = ${ms}`),
  ].join('; ');

/** Opens a connection. Throws StorageUnavailableError. */
export const openConnection = (settings: ClientConfig): Promise<GuardedClient> =>
  attemptPostgres(async () => {
    const client = new GuardedClient(settings);
    await client.connect();
    return client;
  });

/** Checks that a connection pooler keeps transactions and statements. Returns the settings that it accepts. Throws ConfigError with advice. */
export async function fitPooler<T extends ClientConfig>(settings: T, limits: Limits): Promise<T> {
  const limited = { ...settings, ...limits };
  try {
    await check(limited);
    return limited;
  } catch (error) {
    if (!refusedLimit.test(messageOf(error))) throw error;
  }
  await check(settings);
  return settings;
}

async function check(settings: ClientConfig): Promise<void> {
  try {
    await attemptPostgres(() => exchange(settings));
  } catch (error) {
    const message = messageOf(error);
    if (missesStatement(error) || message === needsStatements)
      throw new ConfigError(needsStatements, { cause: error });
    const known = advice.find(([refusal]) => refusal.test(message));
    throw known ? new ConfigError(`${message}. ${known[1]}`, { cause: error }) : error;
  }
}

/** Opens transactions on two connections at once, three times, so that a pooler swaps their connections to the server. */
async function exchange(settings: ClientConfig): Promise<void> {
  const name = `petstore_${randomUUID()}`;
  const opening = [openConnection(settings), openConnection(settings)] as const;
  try {
    const [a, b] = await Promise.all(opening);
    for (const [first, second] of [
      [a, b],
      [a, b],
      [b, a],
    ] as const) {
      await ask(first, name, first === a ? 1 : 2);
      const answered = ask(second, name, second === a ? 1 : 2);
      await Promise.race([answered, sleep(turnMs)]);
      await first.query('commit');
      await answered;
      await second.query('commit');
    }
  } finally {
    await Promise.allSettled(opening.map(async (client) => (await client).end()));
  }
}

/** Begins a transaction and reads a number by a prepared statement. */
async function ask(client: Client, name: string, n: number): Promise<void> {
  const [, { rows }] = await Promise.all([
    client.query('begin'),
    client.query<Row>({ name, text: `select ${n}`, rowMode: 'array' }),
  ]);
  if (rows[0]?.[0] !== n) throw new StorageUnavailableError(needsStatements);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : '');
