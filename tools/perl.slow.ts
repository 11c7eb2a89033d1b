import { startDemonstration } from './support/demonstration.ts';
import { assertVerdicts, verdictsAssert } from './support/exchanges.ts';
import { debianVersion, toolsPath } from './support/program.ts';
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
    asserts: `By OpenAPI 3.0 ${verdictsAssert}`,
    runs: true,
  },
  async (t) => {
    const demonstration = await startDemonstration(t);
    const program = ['perl', toolsPath('perl/exchanges.pl'), demonstration.description];
    return `${await assertVerdicts(demonstration, program)} requests`;
  },
  ['perl'],
);
