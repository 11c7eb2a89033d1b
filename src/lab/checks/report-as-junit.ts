import { escapeXml } from '../../foundation/escape-xml.ts';
import type { CheckResult, Report } from './report-schema.ts';

/** A test suite of a JUnit report. */
interface JunitSuite {
  /** The program that ran it, and what it is about. */
  program: string;
  name: string;
  atMs?: number;
  properties: Readonly<Record<string, unknown>>;
  cases: readonly JunitCase[];
}

export interface JunitCase {
  classname: string;
  name: string;
  tookMs?: number;
  failure?: { type: string; message: string; details: string } | undefined;
  /** Why it was skipped. */
  skipped?: string | undefined;
  output?: string;
}

/** A test suite as JUnit XML, for CI systems. Jenkins refuses `skipped` on `testsuites`. */
export function toJunitXml({ program, name, atMs, properties, cases }: JunitSuite): string {
  const count = (what: 'failure' | 'skipped') => cases.filter((one) => one[what] !== undefined).length;
  const tookMs = cases.reduce((sum, { tookMs = 0 }) => sum + tookMs, 0);
  const counts = `tests="${cases.length}" failures="${count('failure')}" errors="0" time="${seconds(tookMs)}"`;
  const timestamp = atMs === undefined ? '' : ` timestamp="${new Date(atMs).toISOString().slice(0, 19)}"`;
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${program}" ${counts}>`,
    `  <testsuite name="${escapeXml(name)}"${timestamp} ${counts} skipped="${count('skipped')}">`,
    '    <properties>',
    ...Object.entries(properties).map(
      ([name, value]) => `      <property name="${name}" value="${escapeXml(String(value))}"/>`,
    ),
    '    </properties>',
    ...cases.flatMap(linesOf),
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')}\n`;
}

const seconds = (ms: number) => (ms / 1_000).toFixed(3);

const linesOf = ({ classname, name, tookMs = 0, failure, skipped, output }: JunitCase): string[] => [
  `    <testcase classname="petstore.${classname}" name="${escapeXml(name)}" time="${seconds(tookMs)}">`,
  ...(failure
    ? [
        `      <failure type="${failure.type}" message="${escapeXml(failure.message)}">${escapeXml(failure.details)}</failure>`,
      ]
    : []),
  ...(skipped === undefined ? [] : [`      <skipped message="${escapeXml(skipped)}"/>`]),
  ...(output ? [`      <system-out>${escapeXml(output)}</system-out>`] : []),
  '    </testcase>',
];

/** A report card as JUnit XML. Only a failed required check is a failure, so a CI run fails exactly if the verdict is `failed`. */
export const asJunit = ({ recording, version, verdict, checks }: Report): string =>
  toJunitXml({
    ...{ program: 'petstore lab', name: `report card of ${recording}` },
    properties: { recording, version, verdict },
    cases: checks.map(caseOf),
  });

function caseOf({ name, level, result, because, evidence, advice }: CheckResult): JunitCase {
  const facts = { classname: level, name, output: because };
  if (result === 'passed') return facts;
  if (result === 'not_observed') return { ...facts, skipped: `Not observed: ${because}` };
  if (level !== 'required') return { ...facts, skipped: `Failed, but is only ${level}: ${because}` };
  const details = `${because}\nRequests: ${evidence.join(', ')}\n${advice}`;
  return { ...facts, failure: { type: level, message: because, details } };
}
