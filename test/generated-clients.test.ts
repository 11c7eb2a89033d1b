import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ampleKey, startService } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const generators = fileAt('clients/node_modules');

/** Each generator reads openapi.json in its working folder; its program imports what it makes of it. */
const clients = [
  {
    program: 'openapi-fetch.ts',
    generate: [join(generators, 'openapi-typescript/bin/cli.js'), 'openapi.json', '-o', 'petstore.ts'],
  },
  {
    program: 'hey-api.ts',
    generate: [join(generators, '@hey-api/openapi-ts/bin/run.js'), '-f', fileAt('clients/hey-api.config.js')],
  },
];

const skip =
  !existsSync(generators) &&
  !process.env.CI &&
  '"npm ci --prefix test/clients" brings the generators of clients';

for (const { program, generate } of clients) {
  test(`a client generated from the description checks types and works: ${program}`, { skip }, async (t) => {
    const folder = await temporaryStorage(t);
    const dataDir = join(folder, 'data');
    const { origin } = await startService(t, dataDir);
    const served = await fetch(`${origin}/v1/openapi.json`);
    writeFileSync(join(folder, 'openapi.json'), await served.text());
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    symlinkSync(fileAt('../node_modules'), join(folder, 'node_modules'));
    for (const file of [program, 'tsconfig.json'])
      cpSync(fileAt(`clients/programs/${file}`), join(folder, file));

    run(folder, generate);
    run(folder, ['node_modules/typescript/bin/tsc']);
    run(folder, [program, `${origin}/v1`, ampleKey(dataDir)]);
  });
}

/** Runs a program with this Node.js; fails unless it succeeds. */
function run(folder: string, args: string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, `${args.join(' ')}\n${stdout}${stderr}`);
}
