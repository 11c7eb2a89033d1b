import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './tree.ts';

/** A fenced block of a page. */
export interface Block {
  language: string;
  code: string;
}

/** The fenced blocks of a page, in order. */
export const blocksOf = (markdown: string): Block[] =>
  [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({
    language: language as string,
    code: code as string,
  }));

/** The part of a page below a heading, up to the next one of its level. */
export function below(heading: string, markdown: string): string {
  const [level] = heading.split(' ');
  const begin = markdown.indexOf(`${heading}\n`);
  if (begin < 0) throw new Error(`No "${heading}" is there.`);
  const end = markdown.indexOf(`\n${level} `, begin);
  return markdown.slice(begin, end < 0 ? undefined : end);
}

/** Prepares an empty folder for the lines of the README, with its own data. Returns the data folder. */
export function asCheckout(folder: string): string {
  for (const name of ['package.json', 'bin', 'node_modules'])
    symlinkSync(join(root, name), join(folder, name));
  const dataDir = join(folder, 'petstore-data');
  mkdirSync(dataDir, { mode: 0o700 });
  return dataDir;
}

const oneBlank = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Asserts that a block shows the printed output, in order. "…" marks omissions, and line breaks may differ. */
export function assertShows(block: Block | undefined, printed: string): void {
  const text = oneBlank(printed);
  let at = 0;
  for (const part of block?.code.split('…') ?? [printed]) {
    at = text.indexOf(oneBlank(part), at);
    assert.ok(block && at >= 0, `${part}\n${printed}`);
  }
}
