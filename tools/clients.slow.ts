import type { JsonObject } from '../src/reference/description/schemas.ts';
import { pinnedTool, testTool } from './support/tool.ts';
import { assertTrip, tripAsserts } from './support/trip.ts';

testTool(
  pinnedTool('ogen', 'ogen-go/ogen', 'Generates code', 'github.com/ogen-go/ogen'),
  {
    called: '`ogen` with its defaults: client and server of all operations',
    asserts: tripAsserts,
    runs: true,
    exemptions: ['Its client reads a stream to its end, and that of the events has none.'],
  },
  (t) =>
    assertTrip(t, {
      folder: 'ogen',
      make: 'go tool ogen --package petstore --target petstore "$DESCRIPTION"\ngo build -o trip .',
      program: './trip',
    }),
  ['go'],
);

testTool(
  pinnedTool('progenitor', 'oxidecomputer/progenitor', 'Generates code', 'progenitor'),
  {
    called: '`generate_api!`',
    asserts: tripAsserts,
    runs: true,
    exemptions: [
      'It reads only one media type of a request. The test removes `application/merge-patch+json`, beside which `application/json` is described.',
    ],
  },
  (t) =>
    assertTrip(t, {
      folder: 'rust',
      make: 'cp "$DESCRIPTION" openapi.json\ncargo build --quiet --locked',
      program: '"$CARGO_TARGET_DIR/debug/trip"',
      adapt: (description) => {
        for (const item of Object.values<JsonObject>(description.paths))
          for (const { requestBody } of Object.values(item) as { requestBody?: { content: JsonObject } }[])
            delete requestBody?.content['application/merge-patch+json'];
      },
    }),
  ['cargo'],
);
