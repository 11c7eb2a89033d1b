import { describe, test } from 'node:test';
import { faultNames } from '../../src/lab/faults/list.ts';
import { judge, nameOf, prepare } from './corpus/judge.ts';
import { type Program, programs } from './corpus/programs.ts';

const env = await prepare();
const chosen = process.argv.slice(2);

/** Programs mostly wait, so several are graded at once. The correct ones take longest, so they start first. */
const [concurrency, atOnce] = [6, 4];
const right = programs.filter(({ must }) => must === undefined);
const wrong = programs.filter(({ must }) => must !== undefined);

/**
 * Together the correct programs of the corpus meet every fault here. Each meets only one fault in four, and the next program the next ones.
 * This takes minutes instead of half an hour. `npm run proof -- verdicts` uses all faults for each.
 */
const share = 4;
const shared = right.map(
  (program, place): Program => ({
    ...program,
    only: program.only ?? faultNames.filter((_, index) => index % share === place % share),
  }),
);

describe('verdicts', { concurrency }, () => {
  for (const program of [...shared, ...wrong].filter(
    (one) => chosen.length === 0 || chosen.some((word) => nameOf(one).includes(word)),
  ))
    test(nameOf(program), () => judge(program, { env, atOnce }));
});
