import type { TestContext } from 'node:test';
import { type Options, type Petstore, startPetstore } from './petstore.ts';

/** A category that tests of the wire make. */
export const dragons = { body: { name: 'Dragons' } };

/** A store that listens on a real socket. */
export async function startListening(t: TestContext, options: Options = {}): Promise<Petstore> {
  const store = await startPetstore(t, options);
  await store.listen();
  return store;
}

/** The statuses that the log has of what a fault touched. */
export const toldOf = ({ log }: Petstore, fault: string): number[] =>
  log.map((line) => JSON.parse(line)).flatMap(({ faults, status }) => (faults === fault ? [status] : []));

/** How many categories `dragons` has made. */
export async function countDragons({ db }: Petstore): Promise<number> {
  const [[count] = []] = await db.read`select count(*) from categories where name = ${dragons.body.name}`;
  return Number(count);
}

/** How many connections a store has. */
export const connectionsOf = ({ app }: Petstore) =>
  new Promise<number>((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
