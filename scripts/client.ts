import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Description } from './client-description.ts';
import { operationsText } from './client-operations.ts';
import { outputs } from './client-outputs.ts';

/*
 * Writes what `src/client` has from the descriptions, `npm run client`: the types by openapi-typescript, which stands beside
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

${astToString(ast)}`;
}

const written: string[] = [];
const write = (name: string, text: string) => {
  const path = fileAt(`src/client/${name}`);
  writeFileSync(path, text);
  written.push(path);
};
for (const { description, source, names, files } of outputs) {
  const head = `// Made from ${source} by "npm run client" (${description.fingerprint}). Do not edit.\n\n`;
  write(files.types, head + (await typesText(description)));
  write(files.operations, head + operationsText(description, names));
}
execFileSync(fileAt('node_modules/.bin/biome'), ['check', '--write', ...written], {
  cwd: fileAt(''),
  stdio: ['ignore', 'ignore', 'inherit'],
});
