import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clients } from './clients.ts';
import { missingFor, pythonPrograms } from './make.ts';
import { takeTour } from './tour.ts';

/*
 * Makes every client of the guide "Generate a client", compiles it and takes the tour, two at a time. Names as arguments
 * choose some.
 */
const names = process.argv.slice(2);
const unknown = names.filter((name) => !clients.some((client) => client.name === name));
assert.deepEqual(unknown, [], `Clients: ${clients.map(({ name }) => name).join(', ')}`);
const chosen = clients.filter(({ name }) => names.length === 0 || names.includes(name));
const programs = [await pythonPrograms()];

describe('clients', { concurrency: 2 }, () => {
  for (const client of chosen) {
    const missing = missingFor(client);
    const lacks = missing.length > 0 && `needs ${missing.join(' and ')}, not found on this machine`;
    test(client.name, { skip: !process.env.CI && lacks }, async (t) => {
      assert.ok(!lacks, `${client.name} ${lacks}`);
      await takeTour(t, client, programs);
    });
  }
});
