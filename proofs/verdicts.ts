/** Grades every program of the corpus three times under all faults: `npm run proof -- verdicts --rounds N`. */
import { describe, test } from 'node:test';
import { parseArgs } from 'node:util';
import { judge, nameOf, prepare } from '../test/grade/corpus/judge.ts';
import { programs } from '../test/grade/corpus/programs.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const env = await prepare();

describe('verdicts', { concurrency: 2 }, () => {
  for (let round = 1; round <= Number(values.rounds); round++)
    for (const program of programs)
      test(`${nameOf(program)}, round ${round}`, () => judge(program, { env, underAll: true }));
});
