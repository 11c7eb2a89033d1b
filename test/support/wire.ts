import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Petstore } from './petstore.ts';
import { openRaw } from './raw-client.ts';

/** The category that wire tests create. */
export const dragons = { body: { name: 'Dragons' } };

/** What a new connection gets for a request, until it ends in this way. */
export async function receivedUntil(
  end: 'FIN' | 'RST',
  t: TestContext,
  store: Petstore,
  request: string,
): Promise<string> {
  const client = openRaw(t, store);
  client.send(request);
  assert.equal(await client.ended(), end, request);
  return client.text;
}

/** The statuses in the log of requests that a fault touched. */
export const loggedStatuses = ({ log }: Petstore, fault: string): number[] =>
  log.map((line) => JSON.parse(line)).flatMap(({ faults, status }) => (faults === fault ? [status] : []));

/** The number of categories that `dragons` has created. */
export async function countDragons({ db }: Petstore): Promise<number> {
  const [[count] = []] = await db.read`select count(*) from categories where name = ${dragons.body.name}`;
  return Number(count);
}

/** The number of connections of a store. */
export const connectionsOf = ({ app }: Petstore) =>
  new Promise<number>((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
