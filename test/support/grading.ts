import { after } from 'node:test';
import { type GradeOptions, gradeProgram } from '../../src/grade/grade-program.ts';
import { type GradingService, openGradingService } from '../../src/grade/grading-service.ts';
import { initialState, runOnce } from '../../src/grade/run/run.ts';
import type { PlannedFault } from '../../src/lab/rehearsals/schema.ts';
import { compileCache, fileAt } from './tree.ts';

let opened: Promise<GradingService> | undefined;
after(async () => (await opened)?.close());

/** A program of `graded/`. */
export const programOf = (name: string, ...args: string[]) => [
  ...[process.execPath, '--import', compileCache, fileAt(`test/support/graded/${name}.ts`)],
  ...args,
];
export const careless = (...args: string[]) => programOf('careless', ...args);

/** Grades a program with a store that all tests of a file share. */
export async function grade(command: string[], options: Partial<GradeOptions> = {}) {
  opened ??= openGradingService({});
  return gradeProgram({ command, store: await opened, ...options });
}

/** Runs a program once under the given faults. */
export async function runUnder(faults: PlannedFault[], command: string[]) {
  opened ??= openGradingService({});
  const [store, { signal }] = [await opened, new AbortController()];
  const plan = { faults, lingersMs: 0 };
  const initial = await initialState(store, signal);
  return runOnce({ store, command, env: process.env, initial, plan, timeLimitMs: 60_000, signal });
}
