import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { userFolder } from '#distribution';
import { command as installed } from '../foundation/distribution/package.ts';
import { withoutSecrets } from '../foundation/redact.ts';
import { settings } from '../foundation/settings/config.ts';
import { escapeTerminal, toColumns } from '../foundation/terminal-text.ts';
import type { Card, CommandLines } from '../grade/card/card.ts';
import type { CardData } from '../grade/card-schema.ts';
import type { Goal } from '../grade/goal/goal-file.ts';
import type { GradingService } from '../grade/grading-service.ts';
import type { Levels } from '../lab/checks/report.ts';
import { levels } from '../lab/faults/shared/fault.ts';
import { maxLifeSeconds } from '../lab/lab-bounds.ts';
import { selectorOf } from '../lab/rehearsals/fault-selector.ts';
import type { PlannedFault } from '../lab/rehearsals/schema.ts';
import { assertFaults, readCatalogue, suggestionFor } from './lab-faults.ts';
import { addFault, countUpTo, parseCount } from './lab-rehearse.ts';
import { helpNote, printLines, statusOf, toJson, userPath, watchSignals, writeUserFile } from './terminal.ts';

const failOns = ['must-fix', 'should-fix', 'worse'] as const;
type FailOn = (typeof failOns)[number];

const statuses = { passed: 0, failed: 1, incomplete: 3 };
const unwrittenStatus = 1;
const maxTrials = 100;

const more = `
COMMAND runs twice without faults. Then it runs once for each fault and each
place: on the first, a middle and the last use of every operation. Each run has
its own workspace. COMMAND finds it through PETSTORE_BASE_URL and
PETSTORE_API_KEY. An agent, which sends different requests in each run, needs
--goal and --trials: see the guide "Agents".

COMMAND survives a run if it exits with 0, prints the same lines on standard
output, in any order, and makes the same changes as without faults, none of them
twice. Further lines are fine, and so are lines that differ only in what the
fault shows, in counts of requests and in times. Standard error is not compared.
It hung if the run takes longer than --timeout and the waits of the fault.

A fault may have parameters, as in "lab rehearse". With "operation" or "after",
it is performed only at that use:
  --fault lost-answer:operation=createPet,after=3

This command starts its own store. If PETSTORE_BASE_URL is set, it uses that
service. Then set PETSTORE_DATA_DIR or DATABASE_URL to the service's storage.
If COMMAND runs in a container, --host gives the address of this machine there.
If it needs something that exists only once, such as a fixed port, use
--at-once 1.

The exit status is ${statuses.failed} if COMMAND made other changes or printed other lines than
without faults, hung although the service responded, did not survive a required
fault, failed a required check, or fails without faults, and if a file could not
be written. It is ${statuses.incomplete} if no fault was reached, and otherwise 0. With "--fail-on
should-fix" it is also ${statuses.failed} for each finding with the mark "!", and with
"--fail-on worse" only if something became worse since the card of --compare.

Examples:
  petstore grade -- node my-client.mjs
  petstore grade --fault lost-answer --fault rate-limited -- pytest tests/api
  petstore grade --junit grade.xml --html grade.html -- npm test
  petstore grade --json -- node my-client.mjs > card.json
  petstore grade --result 'cat out.json; rm -f out.json' -- node my-client.mjs
  petstore grade --quick --compare card.json --fail-on worse -- npm test
  petstore grade --host 172.17.0.1 -- docker run --rm --init \\
    -e PETSTORE_BASE_URL -e PETSTORE_API_KEY my-client
  petstore grade --goal goal.json --trials 5 -- python3 agent.py`;

interface Options {
  fault?: PlannedFault[];
  list?: true;
  thorough?: true;
  timeout?: number;
  atOnce?: number;
  goal?: string;
  trials?: number;
  level?: [name: string, level: Level][];
  levels?: string;
  ignoreOutput?: true | RegExp;
  host?: string;
  result?: string;
  commandSeconds?: number;
  quick?: true;
  failOn?: FailOn;
  compare?: string;
  json?: true;
  junit?: string;
  html?: string;
  verbose?: true;
}

export const gradeCommand = () =>
  new Command('grade')
    .description('Run a program under every fault, and print its report card.')
    .argument('[command...]', 'the program and its arguments, after --')
    .usage('[options] -- COMMAND...')
    .option('--fault <name>', 'run under this fault only; may be given several times', addFault)
    .option('--list', 'list the faults, and which of them a program must survive')
    .option('--quick', 'about ten seconds: only the faults that show most mistakes, at first uses')
    .addOption(
      new Option(
        '--thorough',
        'perform each fault on every use of an operation, not on three; this takes long',
      ).conflicts(['list', 'quick']),
    )
    .option(
      '--timeout <seconds>',
      'timeout of each run, with or without faults; 60 by default',
      countUpTo(maxLifeSeconds),
    )
    .option('--at-once <n>', 'number of runs at the same time; by default two for each processor', parseCount)
    .option('--goal <file>', 'judge an agent by the goal in this file, not by its runs without faults')
    .option(
      '--trials <n>',
      'with --goal: how often to run without faults, and under each fault at each place; by default 1',
      countUpTo(maxTrials),
    )
    .option(
      '--level <name=level>',
      'make a fault or check required, recommended or off; may be given several times',
      addLevel,
    )
    .option('--levels <file>', 'read levels from a file with a line for each; --level overrides it')
    .option(
      '--ignore-output [pattern]',
      'do not compare what the program prints, or the lines that match a regular expression',
      parsePattern,
    )
    .option(
      '--result <command>',
      'command that prints what the program left in files or a database, and removes it; a shell runs it after each run',
    )
    .option(
      '--command-seconds <seconds>',
      'with --result: its timeout; 60 by default',
      countUpTo(maxLifeSeconds),
    )
    .option('--host <address>', 'address that the store of this command listens on and gives to the program')
    .option('--compare <file>', 'show what became better or worse since this card from --json')
    .addOption(
      new Option('--fail-on <what>', 'what makes the exit status 1').choices(failOns).default('must-fix'),
    )
    .option('--json', 'print the card as JSON')
    .option('--junit <file>', 'also write the card as JUnit')
    .option('--html <file>', 'also write the card as a page, with pictures of the requests')
    .addOption(
      new Option('--verbose', 'show all runs, and the output of the program on standard error').conflicts(
        'list',
      ),
    )
    .addHelpText('after', helpNote(more))
    .action(async (words: string[], options: Options, command: Command) => {
      if (words.length > 0 === Boolean(options.list))
        command.error('error: give the program and its arguments after --, or --list alone');
      const { fault: faults = [], compare, goal, trials } = options;
      await assertFaults(command, faults, 'grade --list');
      if (options.list) return list(options);
      assertHost(command, options);
      const levels = await levelsOf(command, options);
      const off = faults.find(({ fault }) => levels[fault] === 'off');
      if (off) command.error(`error: --fault names ${off.fault}, but its level is off`);
      if (trials !== undefined && goal === undefined) command.error('error: --trials needs --goal');
      if (options.failOn === 'worse' && compare === undefined)
        command.error('error: --fail-on worse needs --compare');
      const { readGoal } = await import('../grade/goal/goal-file.ts');
      const { readCard } = await import('../grade/card/data.ts');
      const judgedBy = goal === undefined ? undefined : readWith(readGoal, command, goal);
      const earlier = compare === undefined ? undefined : readWith(readCard, command, compare);
      assertWritable(command, options);
      await grade(words, { ...options, levels, earlier, judgedBy });
    });

/** Reads a file of the user. Ends the command with an error if that fails, or if `parse` throws. */
function readWith<T>(parse: (text: string) => T, command: Command, file: string): T {
  let problem = 'cannot be read';
  try {
    const text = readFileSync(userPath(file), 'utf8');
    problem = '';
    return parse(text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return command.error(`error: ${file} ${problem ? `${problem} (${code})` : message}`);
  }
}

/** Ends the command with an error if the program could not reach the store at this address. */
function assertHost(command: Command, { host }: Options): void {
  if (host === undefined) return;
  if (process.env[settings.baseUrl.variable]?.trim())
    command.error(
      `error: --host is for the store that this command starts, but ${settings.baseUrl.variable} names a running service: unset it, or leave out --host`,
    );
  if (/^(0\.0\.0\.0|\[?::\]?|\*)$/.test(host))
    command.error(
      'error: --host must be one address at which the program finds this machine, such as 172.17.0.1',
    );
}

function parsePattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch {
    throw new InvalidArgumentError(`"${text}" is not a regular expression.`);
  }
}

const levelNames = [...levels, 'off'] as const;
type Level = (typeof levelNames)[number];

const levelForm = levelNames.map((level) => `NAME=${level}`).join(', ');

/** Parses `lost-answer=recommended`. */
function parseLevel(text: string): [name: string, level: Level] {
  const [, name = '', level] = /^([\w.-]+)\s*=\s*([\w-]+)$/.exec(text) ?? [];
  const found = levelNames.find((one) => one === level);
  if (!found) throw new InvalidArgumentError(`"${text}" must be one of ${levelForm}.`);
  return [name, found];
}

const addLevel = (text: string, before: [string, Level][] = []) => [...before, parseLevel(text)];

/** Parses a file of levels. Empty lines, and lines that begin with #, are skipped. */
const parseLevels = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(parseLevel);

/** The levels of the file. Those of --level take precedence. */
async function levelsOf(command: Command, { level = [], levels: file }: Options): Promise<Levels> {
  const given = [...(file === undefined ? [] : readWith(parseLevels, command, file)), ...level];
  const { checks } = await import('../lab/checks/list.ts');
  const names = [...(await readCatalogue()), ...checks].map(({ name }) => name);
  const unknown = given.find(([name]) => !names.includes(name));
  if (unknown)
    command.error(`error: there is no fault or check ${unknown[0]}${await suggestionFor(unknown[0], names)}`);
  return Object.fromEntries(given);
}

async function list({ json, fault: asked }: Options): Promise<void> {
  const faults = (await readCatalogue()).filter(
    ({ name }) => asked?.some(({ fault }) => fault === name) ?? true,
  );
  const shown = faults.map(({ name: fault, level, does, goodClient }) => {
    return { fault, required: level === 'required', does, goodClient };
  });
  if (json) return console.log(toJson(shown));
  const rows = faults.map(({ name, level, does }) => [name, level, does]);
  console.log(
    `${toColumns([['FAULT', 'LEVEL', 'WHAT THE SERVICE DOES'], ...rows])}\n\nTo describe one fault, and what a good client does: ${calledAs(process.env)} lab faults NAME`,
  );
}

/** Empties the files before the program runs, so that a file that cannot be written is reported early, and no old card remains. */
function assertWritable(command: Command, { junit, html }: Options): void {
  const files = [junit, html].filter((file) => file !== undefined);
  if (files.length > 1 && userPath(files[0] as string) === userPath(files[1] as string))
    command.error('error: --junit and --html must name different files');
  for (const file of files) {
    const problem = write(file, '');
    if (problem !== undefined) command.error(`error: ${problem}`);
  }
}

/** Writes a file. Returns the problem if it cannot be written. */
function write(file: string, text: string): string | undefined {
  try {
    writeUserFile(file, text);
    return undefined;
  } catch (error) {
    return `${file} cannot be written (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** Prints a card, then writes its files. Returns whether all files could be written. */
async function present(card: Card, { json, junit, html, verbose }: Parsed): Promise<boolean> {
  const [{ toText }, { toData }, { toJunit }, { toHtml }] = await Promise.all([
    import('../grade/card/text.ts'),
    import('../grade/card/data.ts'),
    import('../grade/card/junit.ts'),
    import('../grade/card/page.ts'),
  ]);
  if (json) printLines(toJson(toData(card)));
  else console.log(toText(card, { isVerbose: verbose === true }));
  const forms = [
    [junit, toJunit],
    [html, toHtml],
  ] as const;
  const problems = forms.flatMap(([file, make]) =>
    file === undefined ? [] : (write(file, make(card)) ?? []),
  );
  for (const problem of problems) console.error(`petstore: ${escapeTerminal(problem)}.`);
  return problems.length === 0;
}

interface Parsed extends Omit<Options, 'levels'> {
  levels: Levels;
  earlier: CardData | undefined;
  judgedBy: Goal | undefined;
}

async function grade(words: string[], options: Parsed): Promise<void> {
  const { verbose, fault: faults, timeout, host, levels, earlier, judgedBy: goal, trials } = options;
  const { gradeProgram } = await import('../grade/grade-program.ts');
  const { openGradingService } = await import('../grade/grading-service.ts');
  const { progressOn } = await import('../grade/progress.ts');
  const { toCard } = await import('../grade/card/card.ts');
  const { comparedWith } = await import('../grade/card/data.ts');
  const { signal, received } = watchSignals();
  const progress = progressOn(process.stderr, { isVerbose: verbose === true });
  let store: GradingService | undefined;
  try {
    store = await openGradingService(process.env, signal, host);
    const graded = await gradeProgram({
      ...{ command: words, store, faults, signal, levels },
      // Runs at the same time would see the files of each other.
      atOnce: options.atOnce ?? (options.result === undefined ? undefined : 1),
      ...{ goal, trials, isThorough: options.thorough, isQuick: options.quick },
      ...{ ignoredOutput: options.ignoreOutput, resultCommand: options.result },
      commandMs: options.commandSeconds === undefined ? undefined : 1_000 * options.commandSeconds,
      timeoutMs: timeout === undefined ? undefined : 1_000 * timeout,
      ...{ onProgress: progress.report, onOutput: progress.showOutput },
    });
    progress.end();
    const card = toCard(graded, Date.now(), commandLines(words, options, process.env));
    const shown = earlier ? comparedWith(earlier, card) : card;
    const isWritten = await present(shown, options);
    process.exitCode = isWritten ? exitStatusOf(shown, options.failOn) : unwrittenStatus;
  } catch (error) {
    progress.end();
    if (!signal.aborted) throw error;
    process.exitCode = statusOf(received() as NodeJS.Signals);
  } finally {
    await store?.close();
  }
}

function exitStatusOf({ grade: { verdict }, problems, changes }: Card, failOn: FailOn | undefined): number {
  if (failOn === 'worse') {
    const { worse = [], new: added = [] } = changes ?? {};
    const isWorse = worse.length > 0 || added.some(({ now = '' }) => !/^(?:passed|survived|runs)/.test(now));
    return isWorse ? statuses.failed : statuses.passed;
  }
  return failOn === 'should-fix' && problems.length > 0 ? statuses.failed : statuses[verdict];
}

/** The options that a suggested command line repeats. */
const repeatedOptions = [
  'timeout',
  'atOnce',
  'goal',
  'trials',
  'host',
  'result',
  'commandSeconds',
  'ignoreOutput',
] as const;

/** The command lines that the card suggests, without secrets. They call this command as the user did. */
function commandLines(words: string[], options: Parsed, env: NodeJS.ProcessEnv): CommandLines {
  const line = (...args: string[]) =>
    [calledAs(env), ...args.map((word) => quoted(withoutSecrets(word)))].join(' ');
  const rest = [
    ...Object.entries(options.levels).flatMap(([name, level]) => ['--level', `${name}=${level}`]),
    ...repeatedOptions.flatMap((name) => wordsOf(name, options[name])),
  ];
  const selected = (options.fault ?? []).map(selectorOf);
  const whole = (['thorough', 'quick'] as const).flatMap((name) => wordsOf(name, options[name]));
  return {
    again: (selector) => {
      const faults = (selector === undefined ? selected : [selector]).flatMap((one) => ['--fault', one]);
      return line('grade', ...faults, ...(selector === undefined ? whole : []), ...rest, '--', ...words);
    },
    about: (fault) => line('lab', 'faults', fault),
  };
}

/** An option as words of a command line: its name in Commander, and its value. */
function wordsOf(name: string, value: string | number | RegExp | true | undefined): string[] {
  if (value === undefined) return [];
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return value === true ? [flag] : [flag, value instanceof RegExp ? value.source : String(value)];
}

/** How the user calls this command. In another folder the npm script `petstore` needs the folder of the tree. */
function calledAs(env: NodeJS.ProcessEnv): string {
  const { npm_command: by, npm_lifecycle_event: script } = env;
  if (by === undefined) return 'petstore';
  if (!/^run(-script)?$/.test(by) || script !== 'petstore') return installed;
  const tree = relative(userFolder(env), process.cwd());
  return `npm run -s ${tree && `--prefix ${quoted(tree)} `}petstore --`;
}

/** A word in quotes, if a shell needs them. */
const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
