import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { patternsOf } from '../test/support/documents.ts';
import { whyNo } from '../test/support/programs.ts';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Every kind of white space, control characters, and letters and digits that engines fold or count differently. */
const specials = [
  ...Array.from({ length: 33 }, (_, code) => String.fromCodePoint(code)),
  ...'\x7f\x80\x85\x9f\xa0\xad\u1680\u180e\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff',
  ...[
    '\r\n',
    '\n\n',
    'a',
    '0',
    '"',
    '\\',
    '*',
    '/',
    '-',
    '[',
    ']',
    '~',
    'é',
    'ſ',
    '\u212a',
    '٣',
    '\ufffd',
    '😀',
  ],
];

/** Texts that a pattern accepts, and texts that differ from them by a character. */
function textsFor(pattern: string): string[] {
  const arbitrary = fc.stringMatching(new RegExp(pattern, 'u')).filter((text) => text.isWellFormed());
  const accepted = fc.sample(arbitrary, { seed: 1, numRuns: 20 });
  const mutated = accepted.flatMap((text, i) => {
    const [at, special] = [i % (text.length + 1), specials[(i * 7) % specials.length]];
    const start = text.slice(0, at);
    return [
      `${start}${special}${text.slice(at)}`,
      `${start}${text.slice(at + 1)}`,
      `${special}${text}`,
      `${text}\n`,
    ];
  });
  const [first = ''] = accepted;
  const alone = specials.flatMap((special) => [special, `${special}a`, first + special, special + special]);
  return [...new Set(['', ...accepted, ...mutated, ...alone])].filter((text) => text.isWellFormed());
}

const cases = [...patternsOf()].map(([pattern, place]) => ({ pattern, place, texts: textsFor(pattern) }));
const accepts = ({ pattern, texts }: { pattern: string; texts: string[] }) => {
  const form = new RegExp(pattern, 'u');
  return texts.map((text) => form.test(text));
};

/** Programs that read the cases and write which texts each pattern accepts, or why they do not read the pattern. */
const engines: { name: string; command: string[]; trailsNewline: boolean }[] = [
  { name: 'Python', command: ['python3', fileAt('patterns/patterns.py')], trailsNewline: true },
  { name: 'Go', command: ['go', '-C', fileAt('go'), 'run', './patterns'], trailsNewline: false },
  { name: 'PHP, as UTF-8', command: ['php', fileAt('patterns/patterns.php'), 'u'], trailsNewline: true },
  { name: 'PHP, as bytes', command: ['php', fileAt('patterns/patterns.php')], trailsNewline: true },
  { name: 'Perl', command: ['perl', fileAt('patterns/patterns.pl')], trailsNewline: true },
];

describe('each pattern of our documents accepts the same texts as in JavaScript', () => {
  test('the texts of each pattern are accepted and refused', () => {
    for (const one of cases) {
      assert.ok(one.texts.length >= 50, one.pattern);
      assert.deepEqual(new Set(accepts(one)), new Set([true, false]), one.pattern);
    }
  });

  for (const { name, command, trailsNewline } of engines) {
    const [program = '', ...args] = command;
    test(name, { skip: whyNo(program) }, () => {
      const { stdout, stderr } = spawnSync(program, args, { input: JSON.stringify(cases), encoding: 'utf8' });
      const results: (boolean[] | string)[] = JSON.parse(stdout || `"${stderr}"`);
      // In most engines `$` also matches before a newline at the end. All others would need a lookahead, which RE2 lacks.
      const isAccepted = (form: RegExp, text: string) =>
        form.test(text) || (trailsNewline && form.test(text.replace(/\n$/, '')));
      const differences = cases.flatMap(({ pattern, place, texts }, i) => {
        const result = results[i] as boolean[] | string;
        if (typeof result === 'string') return [`${place} ${pattern}: ${result}`];
        const form = new RegExp(pattern, 'u');
        const [shortest] = texts
          .filter((text, j) => result[j] !== isAccepted(form, text))
          .sort((a, b) => a.length - b.length);
        return shortest === undefined ? [] : [`${place} ${pattern}: ${JSON.stringify(shortest)}`];
      });
      assert.deepEqual(differences, []);
    });
  }
});
