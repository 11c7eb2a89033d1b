import { startDemonstration } from './support/demonstration.ts';
import { assertVerdicts } from './support/exchanges.ts';
import { debianVersion, runProgram, toolsPath } from './support/program.ts';
import { testTool } from './support/tool.ts';
import { assertTrip, tripAsserts } from './support/trip.ts';

testTool(
  {
    name: 'OpenAPI::Client for Perl',
    url: 'https://github.com/jhthorsen/openapi-client',
    kind: 'Sends requests',
    version: debianVersion('libopenapi-client-perl'),
  },
  { called: 'its methods by `operationId`', asserts: tripAsserts, runs: true },
  (t) => assertTrip(t, { folder: 'perl', program: 'perl trip.pl' }),
  ['perl'],
);

testTool(
  {
    name: 'JSON::Validator for Perl',
    url: 'https://github.com/jhthorsen/json-validator',
    kind: 'Sends requests',
    version: debianVersion('libjson-validator-perl'),
  },
  {
    called: '`validate_request` and `validate_response`',
    asserts: 'it finds each example request and its response as described',
    runs: true,
  },
  async (t) => {
    const demonstration = await startDemonstration(t);
    const program = ['perl', toolsPath('perl/exchanges.pl'), demonstration.description];
    const count = await assertVerdicts(demonstration, async (exchanges) =>
      JSON.parse(await runProgram(program, JSON.stringify(exchanges))),
    );
    t.diagnostic(`${count} requests`);
  },
  ['perl'],
);
