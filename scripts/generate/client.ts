/**
 * Writes what `src/client` takes from the descriptions, its types and operations: `npm run generate -- client`. openapi-typescript
 * stands beside the generators of test/clients, since it needs an older compiler.
 */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Description } from './client/description.ts';
import { operationsText } from './client/operations.ts';
import { errorCodesText, outputs } from './client/outputs.ts';

const fileAt = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const modules = 'test/clients/node_modules';
execFileSync('npm', ['ci', '--ignore-scripts', '--prefix', fileAt('test/clients')], { stdio: 'inherit' });
const load = async (path: string) => import(fileAt(`${modules}/${path}`));
const { default: openapiTS, astToString } = await load('openapi-typescript/dist/index.mjs');
const { default: ts } = await load('typescript/lib/typescript.js');

const reference = (name: string) => ts.factory.createTypeReferenceNode(name);
const orNull = (type: unknown) =>
  ts.factory.createUnionTypeNode([type, ts.factory.createLiteralTypeNode(ts.factory.createNull())]);

async function typesText(description: Description): Promise<string> {
  const ast = await openapiTS(description.trimmed(), {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    transform(schema: { format?: string; nullable?: boolean; 'x-open'?: boolean }) {
      if (schema['x-open']) return reference('Unknown');
      if (schema.format !== 'int64') return undefined;
      return schema.nullable ? orNull(reference('Int64')) : reference('Int64');
    },
  });
  return `import type { Int64 } from './exact-json.ts';

/** A value of a later version of the API: an enumeration of an answer may have new ones. */
type Unknown = string & Record<never, never>;

${used(astToString(ast))}`;
}

/** The types of schemas by their names, and those of queries. The client needs no others. */
function used(types: string): string {
  const schemas = /^ {4}schemas: \{\n([\s\S]*?)^ {4}\};$/m.exec(types)?.[1] ?? '';
  const operations = /^export interface operations \{[\s\S]*?^\}$/m.exec(types)?.[0] ?? '';
  return (schemas.replaceAll(/^ {8}(\w+):/gm, 'export type $1 =') + operations)
    .replaceAll(/components\[["']schemas["']\]\[["'](\w+)["']\]/g, '$1')
    .replaceAll(/^ *\w+\??: never;\n/gm, '');
}

const written: string[] = [];
const write = (name: string, text: string) => {
  const path = fileAt(`src/client/${name}`);
  writeFileSync(path, text);
  written.push(path);
};
for (const { description, source, names, events, files } of outputs) {
  const head = `// Made from ${source} by "npm run generate" (${description.fingerprint}). Do not edit.\n\n`;
  write(files.types, head + (await typesText(description)) + (events ? errorCodesText() : ''));
  write(files.operations, head + operationsText(description, names, events));
}
execFileSync(fileAt('node_modules/.bin/biome'), ['check', '--write', ...written], {
  cwd: fileAt(''),
  stdio: ['ignore', 'ignore', 'inherit'],
});
