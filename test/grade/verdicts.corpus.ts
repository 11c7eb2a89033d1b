import { describe, test } from 'node:test';
import { judge, nameOf, prepare } from './corpus/judge.ts';
import { programs } from './corpus/programs.ts';

const env = await prepare();
const chosen = process.argv.slice(2);

/** Programs mostly wait, so several are graded at once. The right ones take longest, so they begin first. */
const [concurrency, atOnce] = [4, 4];
const inTurn = programs.toSorted((a, b) => Number(a.must !== undefined) - Number(b.must !== undefined));

describe('verdicts', { concurrency }, () => {
  for (const program of inTurn.filter(
    (one) => chosen.length === 0 || chosen.some((word) => nameOf(one).includes(word)),
  )) {
    const wrong = program.wrong ?? [];
    const skip = program.must !== undefined && wrong[0]?.because;
    test(nameOf(program), { skip }, () => judge(program, { env, atOnce }));
    if (program.must === undefined)
      for (const { fault, because } of wrong)
        test(`${nameOf(program)}, under ${fault}`, { skip: because }, () => {});
  }
});
