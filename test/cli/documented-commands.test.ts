import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { type Command, CommanderError } from 'commander';
import { commandLine } from '../../src/main.ts';
import { guides } from '../../src/reference/description/guides.ts';
import { baseUrl } from '../support/description.ts';
import { root, textOf } from '../support/tree.ts';

const pages = [
  ...globSync(['README.md', 'docs/**/*.md', 'examples/**/*.{md,yml}', 'action.yml'], {
    cwd: root,
    exclude: ['docs/decisions/**', '**/node_modules/**'],
  }).map((page) => [page, textOf(page)] as const),
  ...guides(baseUrl).map(({ name, description }) => [name, description] as const),
];

const secret = `whsec_${'A'.repeat(43)}=`;

/** How pages call the command line. */
const call =
  /(?:npm run -s (?:--prefix \S+ )?petstore --|npx (?:--no-install )?petstore(?:-lab)?|node (?:\S+\/)?bin\/petstore\.js|(?<=[`\n] *)petstore) +(?=[a-z])/;
const calls = new RegExp(`${call.source}((?:\\\\\\n|[^\`\\n])+)`, 'g');

/** The words of a command line, up to a pipe, a redirection or the next command. A command that a shell would run in a word is one word. */
function wordsOf(line: string): string[] {
  const words = line.replaceAll('\\\n', ' ').match(/(?:\$\([^)]*\)|'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const end = words.findIndex((word) => /^(?:\\?[|>&;#]|\d?>)/.test(word));
  return words
    .slice(0, end < 0 ? undefined : end)
    .map((word) => word.replaceAll(/['"]/g, '').replace(/[;)]$/, ''))
    .filter((word) => word !== '…');
}

/** Replaces the placeholders of a page by values of their kind. */
const filled = (words: string[]): string[] =>
  words.map((word) =>
    word
      .replace(/^(?:URL|\$\w*URL)$/, 'http://localhost:3000/hooks')
      .replace(/^PLAN$/, 'free')
      .replace(/^NAME$/, 'shop')
      .replace(/^(?:N|NUMBER)$/, '5')
      .replace(/^SHELL$/, 'bash')
      .replace(/^\$\{?WEBHOOK_SECRET\}?$/, secret),
  );

/** Parses a command line without running its command. Returns what is wrong. */
async function problemOf(words: string[]): Promise<string | undefined> {
  const program = await commandLine(words[0]);
  const prepare = (command: Command) => {
    command.configureOutput({ writeOut: () => {}, writeErr: () => {} });
    if (command.commands.length === 0) command.action(() => {});
    command.commands.forEach(prepare);
  };
  prepare(program);
  try {
    await program.parseAsync(words, { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? undefined : error.message;
  }
}

test('the command line accepts every command that a page shows, with its placeholders replaced', async () => {
  const wrong: string[] = [];
  let count = 0;
  for (const [page, text] of pages)
    for (const [, line = ''] of text.matchAll(calls)) {
      const words = filled(wordsOf(line));
      const problem = await problemOf(words);
      count++;
      // A sentence may name a command without its arguments.
      const isName = words.length <= 2 && /required (?:option|argument)/.test(problem ?? '');
      if (problem !== undefined && !isName) wrong.push(`${page}: ${words.join(' ')}: ${problem}`);
    }
  assert.deepEqual(wrong, []);
  assert.ok(count > 60, `${count} commands`);
});
