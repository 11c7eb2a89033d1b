import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { test } from 'node:test';
import { fileAt, textOf } from '../support/tree.ts';

const src = fileAt('src');
const files = globSync('**/*.ts', { cwd: src }).sort();
const wings = globSync('*/', { cwd: src })
  .map((path) => path.replace('/', ''))
  .sort();

/** The imports of each file from `src`, including types. */
const imports = new Map(
  files.map((file) => {
    const specifiers = textOf(`src/${file}`).matchAll(/(?:from|import\(|import)\s*'(\.[^']+)'/g);
    return [file, [...specifiers].map(([, path]) => join(dirname(file), path as string))];
  }),
);

const quoted = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string);

/** What the README of a wing says: which wings it may import, and which of them, or which file, only some of its rooms may. */
const rules = new Map(
  wings.map((wing) => {
    const text = textOf(`src/${wing}/README.md`);
    const allowed = quoted(/^May import: (.+)$/m.exec(text)?.[1]);
    const reserved = [...text.matchAll(/^Only (.+) may import (.+)\.$/gm)].map(([, rooms, targets]) => ({
      rooms: quoted(rooms),
      targets: quoted(targets),
    }));
    return [wing, { allowed, reserved }];
  }),
);

type Graph = ReadonlyMap<string, Iterable<string>>;

test('src has at most 17 entries, and each wing says what it is and names its rooms', () => {
  assert.ok(globSync('*', { cwd: src }).length <= 17);
  for (const wing of wings) {
    const text = textOf(`src/${wing}/README.md`);
    assert.ok(text.split('\n').length <= 25, `${wing}/README.md is longer than it should be`);
    for (const room of globSync('*/', { cwd: join(src, wing) }))
      assert.ok(text.includes(`\`${room.replace(/\/?$/, '/')}\``), `${wing}/README.md does not name ${room}`);
    for (const name of quoted(text.replace(/^(May import|Only) .+$/gm, '')))
      if (/^[\w/-]+(\.ts|\/)$/.test(name) && name !== `${wing}/`)
        assert.ok(
          [wing, '.', '..'].some((at) => existsSync(join(src, at, name))) || isNameOfMany(wing, name),
          `${wing}: ${name}`,
        );
  }
});

/** Whether a name such as `schema.ts` stands for a file in each of several rooms. */
const isNameOfMany = (wing: string, name: string) =>
  files.filter((file) => file.startsWith(`${wing}/`) && file.endsWith(`/${name}`)).length > 1;

test('a wing imports what its README allows, and all of it', () => {
  const wrong: string[] = [];
  const used = new Map(wings.map((wing) => [wing, new Set<string>()]));
  for (const [file, targets] of imports) {
    const [wing = ''] = file.split('/');
    const rule = rules.get(wing);
    if (!rule) continue;
    for (const target of targets) {
      const [other = ''] = target.split('/');
      if (other === wing) continue;
      used.get(wing)?.add(other);
      const isReserved = rule.reserved.some(
        ({ rooms, targets }) =>
          targets.some((name) => target === name || target.startsWith(`${name}/`)) &&
          !rooms.some((room) => file.startsWith(`${wing}/${room}`)),
      );
      if (!rule.allowed.includes(other) || isReserved) wrong.push(`${file} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
  for (const [wing, { allowed }] of rules)
    assert.deepEqual([...(used.get(wing) as Set<string>)].sort(), allowed.toSorted(), wing);
});

test('CONTRIBUTING begins with the plan: an arrow for each import that no other arrows imply', () => {
  const graph = new Map([...rules].map(([wing, { allowed }]) => [wing, allowed]));
  assert.deepEqual(circlesOf(graph), []);
  const plan = /^```mermaid\n([\s\S]*?)^```/m.exec(textOf('CONTRIBUTING.md'))?.[1] ?? '';
  const drawn = [...plan.matchAll(/^ +(\w+) --> (.+)$/gm)].flatMap(([, from, to = '']) =>
    to.split(' & ').map((target) => `${from} --> ${target}`),
  );
  assert.deepEqual(drawn.sort(), arrowsOf(graph).sort());
  for (const wing of wings) assert.ok(plan.includes(`${wing}["`), `${wing} has no words in the plan`);
});

test('each step of the walks in CONTRIBUTING is a file that imports an earlier one, or is imported by it', () => {
  const section = /^## Two walks\n([\s\S]*?)^## /m.exec(textOf('CONTRIBUTING.md'))?.[1] ?? '';
  const walks = section.split(/^(?=1\. )/m).slice(1);
  assert.equal(walks.length, 2);
  for (const walk of walks) {
    const [first = '', ...others] = [...walk.matchAll(/^\d+\. `src\/(\S+)` /gm)].map(
      ([, file]) => file as string,
    );
    const seen = [first];
    for (const file of others) {
      assert.ok(imports.has(file), `${file} does not exist`);
      const touches = (one: string) => imports.get(file)?.includes(one) || imports.get(one)?.includes(file);
      assert.ok(seen.some(touches), `${file} is connected with no earlier step`);
      seen.push(file);
    }
    assert.equal(seen.length, walk.match(/^\d+\. /gm)?.length);
  }
});

/** The imports that no longer way implies. */
function arrowsOf(graph: Graph): string[] {
  const reaches = (from: string, to: string): boolean =>
    [...(graph.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  return [...graph].flatMap(([from, targets]) =>
    [...targets]
      .filter((target) => ![...targets].some((other) => other !== target && reaches(other, target)))
      .map((target) => `${from} --> ${target}`),
  );
}

test('no two entries of a folder import each other in a circle, and so no files do', () => {
  const folders = ['', ...new Set(files.flatMap(foldersAbove))];
  const circles = folders.flatMap((folder) =>
    circlesOf(importsWithin(folder)).map((circle) => `in src/${folder}: ${circle}`),
  );
  assert.deepEqual(circles, []);
});

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
