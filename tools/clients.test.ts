import { pinnedVersion } from '../test/clients/pins.ts';
import { testTool } from './support/tool.ts';
import { assertTrip } from './support/trip.ts';

const generates = 'Generates code';
/** What the program of each client does. */
const asserts = 'its client creates a pet, follows pages, orders, and reads events and an error';

testTool(
  {
    name: 'ogen',
    url: 'https://github.com/ogen-go/ogen',
    kind: generates,
    version: pinnedVersion('github.com/ogen-go/ogen') as string,
  },
  {
    called: '`ogen` with its defaults: client and server of all operations',
    asserts,
    runs: true,
    exemptions: ['Its client reads a stream to its end, and that of the events has none.'],
  },
  (t) =>
    assertTrip(t, {
      folder: 'ogen',
      make: 'go tool ogen --package petstore --target petstore "$DESCRIPTION"; go vet ./...; go build -o trip .',
      program: './trip',
    }),
  ['go'],
);
