import { describe, test } from 'node:test';
import { faultNames } from '../../src/lab/faults/list.ts';
import { judge, nameOf, prepare } from './corpus/judge.ts';
import { type Program, programs } from './corpus/programs.ts';

const env = await prepare();
const chosen = process.argv.slice(2);

/** Programs mostly wait, so several are graded at once. The right ones take longest, so they begin first. */
const [concurrency, atOnce] = [6, 4];
const right = programs.filter(({ must }) => must === undefined);
const wrong = programs.filter(({ must }) => must !== undefined);

/**
 * Right programs of the whole corpus meet every fault here, but each of them only one fault in four, and its neighbour the next ones. That
 * takes minutes instead of half an hour. `npm run proof -- verdicts` lets each meet all.
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
