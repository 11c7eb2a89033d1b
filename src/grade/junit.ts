import type { CheckResult } from '../lab/report/report.ts';
import { escaped } from '../lab/report/xml.ts';
import { printable } from '../printable.ts';
import { breaks, type Card, type Entry, howEnded, verdictWords } from './card.ts';

interface Case {
  name: string;
  level: 'required' | 'recommended';
  tookMs: number;
  failure?: { type: string; message: string; details: string[] };
  skipped?: string;
  lastLines: string[];
}

/**
 * A grade as JUnit XML, as CI systems read it: the run without a fault and each fault are test cases. Only what must be mended is a
 * failure, so that it fails exactly if the verdict does; what is advised is skipped with its reason, as is what was not reached.
 */
export function toJunit(card: Card): string {
  const { grade, entries, atMs } = card;
  const cases = [baselineCase(card), ...entries.map((entry) => caseOf(entry, card))];
  const time = inSeconds(cases.reduce((sum, { tookMs }) => sum + tookMs, 0));
  const failures = cases.filter(({ failure }) => failure).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${time}"`;
  const name = escaped(printable(grade.command.join(' ')));
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="petstore grade" ${counts}>`,
    `  <testsuite name="${name}" timestamp="${new Date(atMs).toISOString().slice(0, 19)}" ${counts}>`,
    '    <properties>',
    `      <property name="verdict" value="${grade.verdict}"/>`,
    '    </properties>',
    ...cases.flatMap(linesOf),
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')}\n`;
}

function baselineCase({ grade: { baseline }, failures }: Card): Case {
  const facts = { name: 'without any fault', level: 'required' as const, ...baseline };
  if (baseline.problem !== undefined) {
    const failure = { type: 'baseline', message: baseline.problem, details: [howEnded(baseline)] };
    return { ...facts, failure };
  }
  const message = breaks(failures);
  return message === undefined
    ? facts
    : { ...facts, failure: { type: 'check', message, details: detailsOf(failures) } };
}

function caseOf(entry: Entry, { again }: Card): Case {
  const { fault, verdict, required, difference, tookMs, lastLines, rank, failures, happened } = entry;
  const facts: Case = { name: fault, level: required ? 'required' : 'recommended', tookMs, lastLines };
  if (rank === 'survived') return facts;
  const message = [verdictWords[verdict], happened].filter((text) => text !== '').join(': ');
  if (rank !== 'mend')
    return { ...facts, skipped: rank === 'advised' ? `Recommended only: ${message}` : message };
  const details = [...difference, ...detailsOf(failures), `Once more: ${again(fault)}`];
  return { ...facts, failure: { type: verdict === 'survived' ? 'check' : verdict, message, details } };
}

const detailsOf = (failures: readonly CheckResult[]) =>
  failures.map(
    ({ name, because, evidence, advice }) =>
      `${name}: ${because} Requests: ${evidence.join(', ')}. ${advice}`,
  );

const linesOf = ({ name, level, tookMs, failure, skipped, lastLines }: Case): string[] => [
  `    <testcase classname="petstore.${level}" name="${escaped(name)}" time="${inSeconds(tookMs)}">`,
  ...(failure
    ? [
        `      <failure type="${failure.type}" message="${escaped(printable(failure.message))}">${escaped(failure.details.map(printable).join('\n'))}</failure>`,
      ]
    : []),
  ...(skipped === undefined ? [] : [`      <skipped message="${escaped(printable(skipped))}"/>`]),
  ...(lastLines.length > 0
    ? [`      <system-out>${escaped(lastLines.map(printable).join('\n'))}</system-out>`]
    : []),
  '    </testcase>',
];

const inSeconds = (ms: number) => (ms / 1_000).toFixed(3);
