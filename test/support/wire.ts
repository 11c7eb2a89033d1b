import type { TestContext } from 'node:test';
import { type Petstore, type StoreSetup, startPetstore } from './petstore.ts';

/** The category that wire tests create. */
export const dragons = { body: { name: 'Dragons' } };

/** A store that listens on a real socket. */
export async function startListening(t: TestContext, options: StoreSetup = {}): Promise<Petstore> {
  const store = await startPetstore(t, options);
  await store.listen();
  return store;
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
