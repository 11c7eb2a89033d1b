import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chosenClients } from './chosen.ts';
import { missingFor, pythonPrograms } from './make.ts';
import { takeTour } from './tour.ts';

/*
 * Generates every client of the guide "Generate a client", compiles it and runs its tour, two at a time. Arguments are names
 * of clients; without them all are tested.
 */
const chosen = chosenClients(process.argv.slice(2));
const programs = [await pythonPrograms()];

describe('clients', { concurrency: 2 }, () => {
  for (const client of chosen) {
    const missing = missingFor(client);
    const lacks = missing.length > 0 && `needs ${missing.join(' and ')}, not found on this machine`;
    test(client.name, { skip: !process.env.CI && lacks }, async (t) => {
      assert.ok(!lacks, `${client.name} ${lacks}`);
      await takeTour(t, client, programs);
    });
    if (client.readsJsonSchema)
      test(`${client.name} from OpenAPI 3.1`, async (t) => takeTour(t, client, programs, 'openapi-3.1.json'));
  }
});
