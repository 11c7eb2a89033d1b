import { pythonPrograms } from '../test/clients/make.ts';
import { pinnedTool, testTool } from './support/tool.ts';
import { assertTrip, tripAsserts } from './support/trip.ts';

const kind = 'Generates code';

/** The languages of openapi-generator that no client of the guide is for. */
const languages: {
  generator: string;
  name: string;
  options: string;
  make?: string;
  program: string;
  exemptions?: string[];
}[] = [
  {
    generator: 'php',
    name: 'PHP',
    options: 'invokerPackage=Petstore',
    program: 'php trip.php',
    exemptions: [
      'Its class `Event` has the fields of one variant. The program chooses the class of each event itself.',
    ],
  },
  {
    generator: 'ruby',
    name: 'Ruby',
    options: 'gemName=petstore,moduleName=Petstore',
    program: 'ruby trip.rb',
  },
  {
    generator: 'javascript',
    name: 'JavaScript',
    options: 'usePromises=true',
    make: 'npm ci --ignore-scripts',
    program: 'node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON trip.js',
  },
];

for (const { generator, name, options, make = '', program, exemptions } of languages) {
  const generate = [
    ...['openapi-generator-cli', 'generate', '-g', generator, '-i', '"$DESCRIPTION"', '-o', 'petstore'],
    ...['--additional-properties', options],
    ...['--global-property', 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'],
  ].join(' ');
  testTool(
    pinnedTool(
      `openapi-generator for ${name}`,
      'OpenAPITools/openapi-generator',
      kind,
      'openapi-generator-cli',
    ),
    {
      called: `\`generate -g ${generator}\``,
      asserts: tripAsserts,
      runs: true,
      ...(exemptions && { exemptions }),
    },
    async (t) =>
      assertTrip(t, {
        folder: generator,
        make: `${make}\n${generate}`,
        program,
        programs: await pythonPrograms(),
      }),
    ['python3', program.split(' ')[0] as string],
  );
}
