/** Grades every program of the corpus three times under all faults: `npm run proof -- verdicts --rounds N`. */
import { describe, test } from 'node:test';
import { judge, nameOf, prepare } from '../test/grade/corpus/judge.ts';
import { programs } from '../test/grade/corpus/programs.ts';
import { readNumbers } from './support/options.ts';

const { rounds } = readNumbers({ rounds: 3 });
const env = await prepare();

describe('verdicts', { concurrency: 2 }, () => {
  for (let round = 1; round <= rounds; round++)
    for (const program of programs)
      test(`${nameOf(program)}, round ${round}`, () => judge(program, { env, underAll: true }));
});
