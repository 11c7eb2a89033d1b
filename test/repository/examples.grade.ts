import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toCard } from '../../src/grade/card/card.ts';
import { toText } from '../../src/grade/card/text.ts';
import { runVerdicts } from '../../src/grade/card-schema.ts';
import type { Grade } from '../../src/grade/grade.ts';
import { gradeProgram } from '../../src/grade/grade-program.ts';
import { openGradingService } from '../../src/grade/grading-service.ts';
import { checks } from '../../src/lab/checks/list.ts';
import { assertShows, below, blocksOf } from '../support/pasted.ts';
import { pythonWithRequests } from '../support/programs.ts';
import { fileAt, textOf } from '../support/tree.ts';

/** The card that the README shows. */
const shownInReadme = blocksOf(below('## Grade your client', textOf('README.md'))).find(
  ({ language }) => language === 'text',
);
const lines = { again: () => '', about: () => '' };

/** The programs, each by its interpreter. */
const programs: [program: string | undefined, file: string][] = [
  [process.execPath, 'careful.mjs'],
  [process.execPath, 'careless.mjs'],
  [pythonWithRequests, 'careful.py'],
  [pythonWithRequests, 'careless.py'],
];

// A run mostly waits for the announced times, and each has its own service.
describe('the examples have the report cards that their comments show', { concurrency: true }, () => {
  for (const [program, file] of programs) {
    test(file, { skip: !program && !process.env.CI && 'no Python with requests is installed' }, async () => {
      assert.ok(program, 'no Python with requests is installed');
      const path = fileAt(`examples/${file}`);
      const expected = cardIn(textOf(`examples/${file}`));
      const graded = await grade([program, path]);
      assert.equal(summaryOf(graded), expected);
      if (file === 'careless.mjs') assertShows(shownInReadme, toText(toCard(graded, Date.now(), lines)));
    });
  }
});

async function grade(command: string[]): Promise<Grade> {
  const store = await openGradingService({});
  try {
    // A hanging run is ended soon. All others take a few seconds.
    return await gradeProgram({ command, store, atOnce: 3, timeoutMs: 30_000 });
  } finally {
    await store.close();
  }
}

/** A card in the form of the examples: the runs that did not survive, by verdict, and all failed checks. */
function summaryOf({ baseline, faults, verdict }: Grade): string {
  const names = runVerdicts
    .filter((name) => name !== 'survived')
    .map(
      (name) => [name, faults.filter((fault) => fault.verdict === name).map(({ fault }) => fault)] as const,
    );
  const results = [baseline, ...faults.flatMap(({ runs }) => runs)].flatMap((run) => run.checks);
  const failed = checks
    .map(({ name }) => name)
    .filter((check) => results.some(({ name, result }) => name === check && result === 'failed'));
  return [
    `Report card: ${verdict}.`,
    ...[...names, ['failed checks', failed] as const]
      .filter(([, list]) => list.length > 0)
      .map(([what, list]) => `${what}: ${list.join(', ')}.`),
  ].join(' ');
}

/** The card in the comment at the beginning of a program. */
function cardIn(source: string): string {
  const [comment = ''] = /^(?:(?:\/\/|#).*\n)+/.exec(source) ?? [];
  const text = comment
    .replaceAll(/^(?:\/\/|#) */gm, '')
    .replaceAll('\n', ' ')
    .trim();
  return text.slice(text.indexOf('Report card:'));
}
