import { constants } from 'node:os';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { toColumns } from '../columns.ts';
import type { Card, CommandLines } from '../grade/card.ts';
import type { GradingStore } from '../grade/store.ts';
import { dayInSeconds } from '../lab/bounds.ts';
import { printable } from '../printable.ts';
import { withoutSecrets } from '../redact.ts';
import { assertFaults } from './lab-fault-names.ts';
import { readCatalogue } from './lab-faults.ts';
import { parseCount } from './lab-rehearse.ts';
import { printLines, toJson, writeUsersFile } from './output.ts';

const statuses = { passed: 0, failed: 1, incomplete: 3 };
const unwrittenStatus = 1;

const more = `
COMMAND runs twice as it is, and then once under each fault, each time with a
workspace of its own, to which PETSTORE_BASE_URL and PETSTORE_API_KEY lead. A
fault is survived if COMMAND ends with 0 and leaves in the store what it leaves
without the fault. Where one seems to have changed the store, COMMAND runs up to
three times more without a fault, to see what changes by itself.

The store is one that this command starts. Where PETSTORE_BASE_URL is set, it is
the service there, whose storage PETSTORE_DATA_DIR or DATABASE_URL must name.

Runs are side by side. Where COMMAND takes what there is only one of, such as a
port, give --at-once 1. A run that takes too long is ended, and is called hung.
What a fault makes it wait is added to --timeout.

The exit status is ${statuses.failed} if a required fault was not survived, a run that ended with
0 left another store, a required check failed, COMMAND fails without a fault, or
a file could not be written; it is ${statuses.incomplete} if no fault was reached, and else 0.

Examples:
  petstore grade -- node my-client.mjs
  petstore grade --fault lost-answer --fault rate-limited -- pytest tests/api
  petstore grade --junit grade.xml --html grade.html -- npm test
  petstore grade --list`;

interface Options {
  fault?: string[];
  list?: true;
  timeout?: number;
  atOnce?: number;
  json?: true;
  junit?: string;
  html?: string;
  verbose?: true;
}

/** Grades a program: runs it under each fault, and tells what it does not survive. */
export const gradeCommand = () =>
  new Command('grade')
    .description('Run a program under every fault, and print its report card.')
    .argument('[command...]', 'the program and its arguments, after --')
    .usage('[options] -- COMMAND...')
    .option(
      '--fault <name>',
      'only under this fault; may be given several times',
      (name, names: string[] = []) => [...names, name],
    )
    .option('--list', 'list the faults, and which of them must be survived')
    .option(
      '--timeout <seconds>',
      'how long a run may take; by default ten times as long as without a fault, and 30 at least',
      parseTimeout,
    )
    .option(
      '--at-once <n>',
      'how many runs there are side by side at most; by default as many as there are processors',
      parseCount,
    )
    .option('--json', 'print the card as JSON')
    .option('--junit <file>', 'write it as JUnit, too')
    .option('--html <file>', 'write it as a page, too, with pictures of what was sent when')
    .option('--verbose', 'show what the program prints, on standard error')
    .addHelpText('after', more)
    .action(async (words: string[], options: Options, command: Command) => {
      if (words.length > 0 === Boolean(options.list))
        command.error('error: give the program and its arguments after --, or --list alone');
      await assertFaults(command, options.fault ?? [], 'grade --list');
      if (options.list) return list(options);
      assertWritable(command, options);
      await grade(words, options);
    });

/** What is longer than a day outlives the recording of the run. */
function parseTimeout(text: string): number {
  const seconds = parseCount(text);
  if (seconds > dayInSeconds) throw new InvalidArgumentError(`It must be at most ${dayInSeconds}, a day.`);
  return seconds;
}

async function list({ json, fault: names }: Options): Promise<void> {
  const faults = (await readCatalogue()).filter(({ name }) => names?.includes(name) ?? true);
  if (json) {
    const shown = faults.map(({ name, level, does, goodClient }) => ({
      ...{ fault: name, required: level === 'required', does, goodClient },
    }));
    return console.log(toJson(shown));
  }
  const rows = faults.map(({ name, level, does }) => [name, level, does]);
  console.log(
    `${toColumns([['FAULT', 'LEVEL', 'WHAT THE SERVICE DOES'], ...rows])}\n\nAll about one, and what a good client does: ${calledAs(process.env)} lab faults NAME`,
  );
}

/** A file is told to be unwritable before the program runs, and an old card is never taken for the new one. */
function assertWritable(command: Command, { junit, html }: Options): void {
  const files = [junit, html].filter((file) => file !== undefined);
  if (new Set(files.map((file) => resolve(file))).size < files.length)
    command.error('error: --junit and --html must be two files');
  for (const file of files) {
    const problem = write(file, '');
    if (problem !== undefined) command.error(`error: ${problem}`);
  }
}

/** Writes a file, and returns why it cannot be written, if so. */
function write(file: string, text: string): string | undefined {
  try {
    writeUsersFile(file, text);
    return undefined;
  } catch (error) {
    return `${file} cannot be written (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** Prints a card, then writes it, so that a file which cannot be written loses nothing else. Returns whether all could be written. */
async function present(card: Card, { json, junit, html }: Options): Promise<boolean> {
  const [{ toText }, { toData }, { toJunit }, { toPage }] = await Promise.all([
    import('../grade/text.ts'),
    import('../grade/json.ts'),
    import('../grade/junit.ts'),
    import('../grade/page/page.ts'),
  ]);
  if (json) printLines(toJson(toData(card)));
  else console.log(toText(card));
  const problems = [
    junit === undefined ? undefined : write(junit, toJunit(card)),
    html === undefined ? undefined : write(html, toPage(card)),
  ].filter((problem) => problem !== undefined);
  for (const problem of problems) console.error(`petstore: ${printable(problem)}.`);
  return problems.length === 0;
}

async function grade(words: string[], options: Options): Promise<void> {
  const { verbose, fault: faults, timeout, atOnce } = options;
  const { gradeProgram } = await import('../grade/grade-program.ts');
  const { openGradingStore } = await import('../grade/store.ts');
  const { progressOn } = await import('../grade/progress.ts');
  const { toCard } = await import('../grade/card.ts');
  const { signal, told } = untilTold();
  const progress = progressOn(process.stderr, { isVerbose: verbose === true });
  let store: GradingStore | undefined;
  try {
    store = await openGradingStore(process.env, signal);
    const graded = await gradeProgram({
      ...{ command: words, store, faults, signal, atOnce },
      ...{ timeoutMs: timeout === undefined ? undefined : 1_000 * timeout },
      ...{ onProgress: progress.tell, onOutput: progress.show },
    });
    progress.end();
    const card = toCard(graded, Date.now(), commandLines(words, options, process.env));
    const isWritten = await present(card, options);
    process.exitCode = isWritten ? statuses[graded.verdict] : unwrittenStatus;
  } catch (error) {
    progress.end();
    if (!signal.aborted) throw error;
    process.exitCode = statusOf(told() as NodeJS.Signals);
  } finally {
    await store?.close();
  }
}

/** One Ctrl-C may come more than once, since npm and an older Node.js pass it on, too. What comes later is meant. */
const sameSignalMs = 500;

/** A signal to end ends the grading, and all that runs for it, first. Another one ends this process at once. */
function untilTold(): { signal: AbortSignal; told(): NodeJS.Signals | undefined } {
  const stop = new AbortController();
  let told: NodeJS.Signals | undefined;
  let toldAtMs = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (told && performance.now() - toldAtMs > sameSignalMs) process.exit(statusOf(told));
      if (told) return;
      [told, toldAtMs] = [signal, performance.now()];
      stop.abort();
    });
  return { signal: stop.signal, told: () => told };
}

/** The exit status that shells give to what a signal ended. */
const statusOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal];

/** What the card tells to type next, as this command was called, without secrets. */
function commandLines(
  words: string[],
  { fault: faults = [], timeout, atOnce }: Options,
  env: NodeJS.ProcessEnv,
): CommandLines {
  const line = (...args: string[]) =>
    [calledAs(env), ...args.map((word) => quoted(withoutSecrets(word)))].join(' ');
  const limits = [
    ...(timeout === undefined ? [] : ['--timeout', String(timeout)]),
    ...(atOnce === undefined ? [] : ['--at-once', String(atOnce)]),
  ];
  return {
    again: (fault) => {
      const names = fault === undefined ? faults : [fault];
      return line('grade', ...names.flatMap((name) => ['--fault', name]), ...limits, '--', ...words);
    },
    about: (fault) => line('lab', 'faults', fault),
  };
}

/** npm says how it runs a command: by `npx`, by the script of this name, or by another one, in which it is found by its name. */
function calledAs({ npm_command: by, npm_lifecycle_event: script }: NodeJS.ProcessEnv): string {
  if (by === undefined) return 'petstore';
  return /^run(-script)?$/.test(by) && script === 'petstore' ? 'npm run -s petstore --' : 'npx petstore';
}

/** A word as a shell takes it for one. */
const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
