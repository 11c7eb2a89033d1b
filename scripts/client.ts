import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fingerprint, operationsText, trimmed } from './client-description.ts';

/*
 * Writes what `src/client` has from the description, `npm run client`: the types of the API by openapi-typescript, which stands beside
 * the generators of test/clients, since it needs an older compiler, and the operations.
 */
const fileAt = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const modules = 'test/clients/node_modules';
const load = async (path: string) => import(fileAt(`${modules}/${path}`));
const { default: openapiTS, astToString } = await load('openapi-typescript/dist/index.mjs');
const { default: ts } = await load('typescript/lib/typescript.js');

const reference = (name: string) => ts.factory.createTypeReferenceNode(name);
const orNull = (type: unknown) =>
  ts.factory.createUnionTypeNode([type, ts.factory.createLiteralTypeNode(ts.factory.createNull())]);
const ast = await openapiTS(trimmed(), {
  rootTypes: true,
  rootTypesNoSchemaPrefix: true,
  transform(schema: { format?: string; nullable?: boolean; 'x-open'?: boolean }) {
    if (schema['x-open']) return reference('Unknown');
    if (schema.format !== 'int64') return undefined;
    return schema.nullable ? orNull(reference('Int64')) : reference('Int64');
  },
});

const head = `// Made from openapi.json by "npm run client" (${fingerprint()}). Do not edit.\n\n`;
const types = `import type { Int64 } from './exact-json.ts';

/** A value of a later version of the API: an enumeration of an answer may have new ones. */
type Unknown = string & Record<never, never>;

`;
const outputs = {
  'src/client/description.ts': head + types + astToString(ast),
  'src/client/operations.ts': head + operationsText(),
};
for (const [path, text] of Object.entries(outputs)) writeFileSync(fileAt(path), text);
execFileSync(fileAt('node_modules/.bin/biome'), ['check', '--write', ...Object.keys(outputs)], {
  cwd: fileAt(''),
  stdio: ['ignore', 'ignore', 'inherit'],
});
