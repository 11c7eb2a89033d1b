import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type GradeOptions, gradeProgram } from '../../src/grade/grade-program.ts';
import { type GradingStore, openGradingStore } from '../../src/grade/store.ts';

let opened: Promise<GradingStore> | undefined;
after(async () => (await opened)?.close());

/** A program of `graded/`. */
export const programOf = (name: string, ...args: string[]) => [
  process.execPath,
  fileURLToPath(new URL(`graded/${name}.ts`, import.meta.url)),
  ...args,
];
export const careless = (what: string) => programOf('careless', what);

/** The environment of the tests is not that of a program. */
const { NODE_TEST_CONTEXT: _, ...env } = process.env;

/** Grades a program by a store that all tests of a file share. */
export async function grade(command: string[], options: Partial<GradeOptions> = {}) {
  opened ??= openGradingStore({});
  return gradeProgram({ command, store: await opened, env, ...options });
}
