import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The folders and files of `src`, from the top down. Each may import from those below it. */
const layers = [
  'main.ts', //        the command line
  'commands',
  'grade', //          grading a program
  'serve.ts', //       the command: configuration → storage → service, until a signal
  'welcome.ts', //     what is told at the start
  'index.ts', //       the package, as programs import it
  'start-petstore.ts', // a store from code
  'from-code', //      what a store of tests has beside a service: clock, reset, lab
  'service.ts', //     app → socket → background work
  'lab-service.ts', // asks the lab of a running service
  'app.ts', //         the request path
  'reference', //      the interactive page
  'openapi', //        operations → the description, with its samples and guides
  'api.ts', //         operations below one beginning of paths
  'health.ts', //      how the service is
  'lab', //            rehearsals and recordings
  'admission.ts',
  'mount.ts',
  'pages', //          serving pages, and what they share in the browser
  'demo', //           the seeded workspace
  'log',
  'metrics.ts',
  'operations.ts', //  the list of all operations
  'events', //          the history as callers read it
  'webhooks',
  'orders',
  'inventory',
  'pets',
  'categories',
  'lifecycle.ts',
  'answered.ts', //    what is known of an answered request, and who is told
  'keys',
  'http',
  'operation.ts',
  'workspaces',
  'history', //         what happened in a workspace: written by the stores
  'secret-key.ts', //  the key of the installation, and what is made from it
  'storage.ts', //     opening the storage that the settings name
  'config.ts', //      every setting, declared once
  'setting.ts',
  'limits',
  'page.ts', //        what schemas and lists share
  'schema.ts',
  'db',
  'data-dir.ts', //    the ground floor
  'shared.ts', //      results that callers share or wait for
  'errors.ts',
  'bounds.ts', //      what a request may hold
  'field-names.ts', // the names of header fields of answers
  'redact.ts',
  'users-program.ts', // starts programs of the user
  'umask.ts', //       whose the files are that are written
  'columns.ts', //     tables of text
  'printable.ts', //   what a terminal may get
  'instant.ts',
  'reference-url.ts',
  'repeat.ts',
  'version.ts',
  'distribution', //   what differs between the tree and the npm package
  'client', //         what programs use that call the API; it stands alone
];

const src = fileURLToPath(new URL('../src', import.meta.url));
const layerOf = (file: string) => relative(src, file).split('/')[0] as string;

/** Each import of one layer from another, also of types. */
const imports = globSync('**/*.ts', { cwd: src }).flatMap((name) => {
  const file = join(src, name);
  const targets = readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g);
  return [...targets]
    .map(([, target]) => ({ name, from: layerOf(file), to: layerOf(join(dirname(file), target as string)) }))
    .filter(({ from, to }) => from !== to);
});

test('every folder and file of src stands in the table of layers', () => {
  const found = new Set(globSync('**/*.ts', { cwd: src }).map((name) => name.split('/')[0] as string));
  assert.deepEqual([...found].sort(), layers.toSorted());
});

test('imports lead downwards', () => {
  assert.ok(imports.length > 200);
  const upwards = imports.filter(({ from, to }) => layers.indexOf(to) <= layers.indexOf(from));
  assert.deepEqual(
    upwards.map(({ name, to }) => `${name} imports from ${to}`),
    [],
  );
});
