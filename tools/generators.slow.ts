import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/support/folder.ts';
import { startDemonstration } from './support/demonstration.ts';
import { pinnedTool, testTool } from './support/tool.ts';
import { tour } from './support/tour.ts';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));

interface Generator {
  repository: string;
  /** The command that makes `client.ts` from a description. */
  command(description: string): string[];
}

/** Generators of a client in TypeScript. */
const generators: Record<string, Generator> = {
  'swagger-typescript-api': {
    repository: 'acacode/swagger-typescript-api',
    command: (description) => ['dist/cli.mjs', 'generate', '-p', description, '-o', '.', '-n', 'client.ts'],
  },
  oazapfts: {
    repository: 'oazapfts/oazapfts',
    command: (description) => ['dist/cli.js', description, 'client.ts'],
  },
};

for (const [name, { repository, command }] of Object.entries(generators))
  testTool(
    pinnedTool(name, repository, 'Generates code', name),
    {
      called: 'its command on OpenAPI 3.0',
      asserts:
        'The client compiles. Its program creates a pet, lists pets and events, and reads the code of an error.',
      runs: true,
    },
    async (t) => {
      const { origin, description, freshKey } = await startDemonstration(t);
      const cwd = temporaryFolder(t);
      const node = (words: string[], env = {}) => {
        const options = { cwd, encoding: 'utf8', env: { ...process.env, ...env } } as const;
        const { status, stdout, stderr } = spawnSync(process.execPath, words, options);
        assert.equal(status, 0, stdout + stderr);
        return stdout;
      };
      symlinkSync(fileAt('node_modules'), join(cwd, 'node_modules'));
      writeFileSync(join(cwd, 'package.json'), '{}');
      cpSync(fileAt(`generators/${name}.ts`), join(cwd, 'tour.ts'));
      const [program = '', ...words] = command(description);
      node([fileAt(`node_modules/${name}/${program}`), ...words]);
      const compile = [
        '--strict',
        '--skipLibCheck',
        '--target',
        'esnext',
        '--module',
        'commonjs',
        '--types',
        'node',
        '--typeRoots',
        fileAt('node_modules/@types'),
      ];
      node([
        fileAt('../node_modules/typescript/bin/tsc'),
        ...compile,
        '--moduleResolution',
        'bundler',
        'tour.ts',
      ]);
      const output = node(['tour.js'], {
        PETSTORE_BASE_URL: `${origin}/v1`,
        PETSTORE_API_KEY: await freshKey(),
      });
      assert.deepEqual(JSON.parse(output), tour);
    },
  );
