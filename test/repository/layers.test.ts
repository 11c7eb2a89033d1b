import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The folders and files of `src`, from the top down. Each may import from those below it. */
const layers = `
  main.ts        the command line's entry
  index.ts       the package's entry
  cli            a file for each command
  grade          runs a program under faults, compares and reports
  service        the app, the socket, health checks, ways to start
  reference      what people and tools read: descriptions, guides, pages
  mcp            the Model Context Protocol: the tools and their requests
  lab            faults, rehearsals, recordings, checks, account, page
  api            the list of operations, admission, and how an operation runs
  observe        the log, metrics, deprecation
  store          the shop: resources, history, events, webhooks, workspaces, demo
  access         who may ask: keys, limits
  http           HTTP without the shop
  db             the storage, its engines, its tables
  foundation     errors, bounds, schemas, texts, settings
  client         petstore-lab/client; it imports nothing of the rest
`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(' ')[0] as string);

const src = fileURLToPath(new URL('../../src', import.meta.url));
const files = globSync('**/*.ts', { cwd: src }).sort();

/** The imports of each file from `src`, including types. */
const imports = new Map(
  files.map((file) => {
    const specifiers = readFileSync(join(src, file), 'utf8').matchAll(
      /(?:from|import\(|import)\s*'(\.[^']+)'/g,
    );
    return [file, [...specifiers].map(([, path]) => join(dirname(file), path as string))];
  }),
);

const layerOf = (file: string) => layers.indexOf(file.split('/')[0] as string);

test('the table of layers lists every folder and file of src', () => {
  const found = new Set(files.map((file) => file.split('/')[0] as string));
  assert.deepEqual([...found].sort(), layers.toSorted());
});

test('CONTRIBUTING lists the same folders in the same order', () => {
  const page = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');
  const folders = [...page.matchAll(/^\| `(\w+)\/` /gm)].map(([, folder]) => folder);
  assert.deepEqual(
    folders,
    layers.filter((name) => !name.endsWith('.ts')),
  );
});

test('imports lead downwards', () => {
  const all = [...imports].flatMap(([file, targets]) => targets.map((target) => ({ file, target })));
  assert.ok(all.length > 1_000);
  const upwards = all.filter(({ file, target }) => layerOf(target) < layerOf(file));
  assert.deepEqual(
    upwards.map(({ file, target }) => `${file} imports ${target}`),
    [],
  );
});

test('no files import each other in a circle', () => {
  assert.deepEqual(circlesOf(imports), []);
});

test('no two entries of a folder import each other in a circle', () => {
  const folders = [...new Set(files.flatMap(foldersAbove))];
  const circles = folders.flatMap((folder) =>
    circlesOf(importsWithin(folder)).map((circle) => `in ${folder}: ${circle}`),
  );
  assert.deepEqual(circles, []);
});

type Graph = ReadonlyMap<string, Iterable<string>>;

/** `lab/faults/` and `lab/` for `lab/faults/list.ts`. */
const foldersAbove = (file: string) => [...file.matchAll(/\//g)].map(({ index }) => file.slice(0, index + 1));

/** The imports between the files and folders of a folder. */
function importsWithin(folder: string): Graph {
  const entryOf = (file: string) => file.slice(folder.length).split('/')[0] as string;
  const graph = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    if (!file.startsWith(folder)) continue;
    const entry = entryOf(file);
    const others = targets.filter((target) => target.startsWith(folder)).map(entryOf);
    const known = graph.get(entry) ?? [];
    graph.set(entry, new Set([...known, ...others.filter((other) => other !== entry)]));
  }
  return graph;
}

/** The cycles of a graph as texts, each starting with its first name: `a → b → a`. */
function circlesOf(graph: Graph): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) circles.push([...path.slice(path.indexOf(name)), name].join(' → '));
    if (path.includes(name) || done.has(name)) return;
    for (const next of graph.get(name) ?? []) visit(next, [...path, name]);
    done.add(name);
  };
  for (const name of graph.keys()) visit(name, []);
  return circles;
}
