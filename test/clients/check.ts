import { describe } from 'node:test';
import { pinnedTool, testTool } from '../../tools/support/tool.ts';
import { chosenClients } from './chosen.ts';
import { pythonPrograms } from './make.ts';
import { takeTour } from './tour.ts';

/*
 * Generates every client of the guide "Generate a client", compiles it and runs its tour, two at a time. Arguments are names
 * of clients; without them all are tested.
 */
const chosen = chosenClients(process.argv.slice(2));
const programs = [await pythonPrograms()];

describe('clients', { concurrency: 2 }, () => {
  for (const client of chosen) {
    const tool = pinnedTool(client.heading, client.repository, 'Generates code', client.generator);
    const documents = { '3.0': 'openapi.json', ...(client.readsJsonSchema && { '3.1': 'openapi-3.1.json' }) };
    for (const [version, document] of Object.entries(documents))
      testTool(
        tool,
        {
          called: 'the commands of the guide "Generate a client"',
          asserts: `From OpenAPI ${version}: the client compiles, and its program prints what those of all clients print.`,
          runs: true,
        },
        (t) => takeTour(t, client, programs, document),
        client.needs,
      );
  }
});
