import assert from 'node:assert/strict';
import { type Client, clients } from './clients.ts';

/** The clients with these names, or all if none is given. */
export function chosenClients(names: readonly string[]): Client[] {
  const unknown = names.filter((name) => !clients.some((client) => client.name === name));
  assert.deepEqual(unknown, [], `Clients: ${clients.map(({ name }) => name).join(', ')}`);
  return clients.filter(({ name }) => names.length === 0 || names.includes(name));
}
