import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { delimiter, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toCard } from '../../../src/grade/card/card.ts';
import { toText } from '../../../src/grade/card/text.ts';
import type { Deviation, Grade, Verdict } from '../../../src/grade/grade.ts';
import { isFailing, kindVerdicts } from '../../../src/grade/verdict.ts';
import { faultNames } from '../../../src/lab/faults/list.ts';
import { pythonPrograms, run } from '../../clients/make.ts';
import { grade } from '../../support/grading.ts';
import type { Program } from './programs.ts';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const built = fileAt('node_modules/.cache/go');

/** Compiles and installs the dependencies of the programs, except the npm packages. Returns the environment to run them in. */
export async function prepare(): Promise<NodeJS.ProcessEnv> {
  mkdirSync(built, { recursive: true });
  await run(`go build -o "${built}/" ./...`, fileAt('go'), process.env);
  const python = await pythonPrograms(fileAt('requirements.txt'));
  return { ...process.env, PATH: [python, dirname(process.execPath), process.env.PATH].join(delimiter) };
}

const interpreters: Record<string, string[]> = {
  '.mjs': [process.execPath],
  '.py': ['python3'],
  '.sh': ['sh'],
};

function commandOf({ file, mistake }: Program): string[] {
  const interpreter = interpreters[extname(file)];
  const program = interpreter ? [...interpreter, fileAt(file)] : [join(built, file)];
  return mistake === undefined ? program : [...program, mistake];
}

export const nameOf = ({ file, mistake, must, fault }: Program) => {
  const { fault: name, ...parameters } = fault ?? {};
  const words = [name, ...Object.entries(parameters).map(([key, value]) => `${key}=${value}`)];
  if (must === undefined) return `${file}${mistake ? ` ${mistake}` : ''} is right`;
  return `${file} ${mistake}${name ? `, under ${words.join(' ')}` : ''}`;
};

interface JudgeOptions {
  env: NodeJS.ProcessEnv;
  /** Whether to grade a wrong program under all faults. Otherwise, only under the one that shows its mistake. */
  underAll?: boolean;
  atOnce?: number;
}

/** Grades a program and asserts the expected verdict. */
export async function judge(program: Program, { underAll = false, ...options }: JudgeOptions): Promise<void> {
  const { fault, must, only = faultNames, timeoutMs } = program;
  const faults = [...(underAll || !must ? only : []), ...(fault ? [fault] : [])];
  const graded = await grade(commandOf(program), { faults, timeoutMs, ...options });
  const problems = must === undefined ? accusationsOf(graded, program) : missedBy(graded, program);
  assert.deepEqual(problems, [], `${nameOf(program)}\n${cardOf(graded)}`);
}

/** False findings in the grade of a correct program. */
function accusationsOf(
  { baseline, faults, verdict }: Grade,
  { stopsUnder = [], lacks = [] }: Program,
): string[] {
  const ended = faults.filter(
    ({ fault, verdict }) =>
      !['survived', 'not-reached'].includes(verdict) && !(verdict === 'failed' && stopsUnder.includes(fault)),
  );
  const runs = faults.flatMap(({ fault, runs }) => (stopsUnder.includes(fault) ? [] : runs));
  const failed = [baseline, ...runs]
    .flatMap(({ checks }) => failedIn(checks))
    .filter((name) => !lacks.includes(name));
  return [
    ...(baseline.problem === undefined ? [] : [baseline.problem]),
    ...(verdict === 'passed' ? [] : [`The verdict is ${verdict}.`]),
    ...baseline.refused.map(({ operation, status }) => `${operation} is refused with ${status}.`),
    ...ended.map(({ fault, verdict }) => `${verdict} under ${fault}`),
    ...new Set(failed.map((name) => `${name} failed`)),
  ];
}

/** Expected findings that the grade of a wrong program lacks. */
function missedBy({ baseline, faults, verdict }: Grade, { fault, must }: Program): string[] {
  if (baseline.problem !== undefined) return [baseline.problem];
  const shown = faults.find((one) => one.fault === fault?.fault);
  const runs = shown?.runs ?? [baseline];
  if (typeof must !== 'object') {
    const wanted: Verdict =
      must === 'failed' || must === 'hung' ? must : kindVerdicts[must as Deviation['kind']];
    if (!shown?.runs.some((run) => run.verdict === wanted)) return [`It does not say ${wanted}.`];
    const isWrong = shown.runs.some((one) => isFailing({ ...one, required: shown.required }));
    return isWrong && verdict !== 'failed' ? [`The verdict is ${verdict}.`] : [];
  }
  const failed = runs
    .flatMap(({ checks }) => checks)
    .find((one) => one.name === must.check && one.result === 'failed');
  if (!failed) return [`It does not say that ${must.check} failed.`];
  return failed.level === 'required' && verdict !== 'failed' ? [`The verdict is ${verdict}.`] : [];
}

const failedIn = (checks: Grade['baseline']['checks']) =>
  checks.filter(({ result }) => result === 'failed').map(({ name }) => name);

function cardOf(graded: Grade): string {
  const again = (selector?: string) =>
    `petstore grade${selector ? ` --fault ${selector}` : ''} -- ${graded.command.join(' ')}`;
  return toText(toCard(graded, Date.now(), { again, about: (fault) => `petstore lab faults ${fault}` }));
}
