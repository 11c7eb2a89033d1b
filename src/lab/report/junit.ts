import type { CheckResult, Report } from './report.ts';

/**
 * A report card as JUnit XML, as CI systems read it: each check is a test case. Only a required check that failed is a failure, so that
 * a run fails exactly if the verdict does; a recommended one that failed is skipped with its reason, as is what was not observed.
 */
export function asJunit({ recording, version, verdict, checks }: Report): string {
  const counts = `tests="${checks.length}" failures="${count(checks, isFailure)}" errors="0" skipped="${count(checks, isSkipped)}" time="0"`;
  const properties = Object.entries({ recording, version, verdict }).map(
    ([name, value]) => `      <property name="${name}" value="${escaped(String(value))}"/>`,
  );
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="petstore lab" ${counts}>`,
    `  <testsuite name="report card of ${escaped(recording)}" ${counts}>`,
    '    <properties>',
    ...properties,
    '    </properties>',
    ...checks.flatMap(caseOf),
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')}\n`;
}

const isFailure = ({ level, result }: CheckResult) => level === 'required' && result === 'failed';
const isSkipped = (check: CheckResult) => check.result !== 'passed' && !isFailure(check);
const count = (checks: readonly CheckResult[], is: (check: CheckResult) => boolean) =>
  checks.filter(is).length;

function caseOf(check: CheckResult): string[] {
  const { name, level, because } = check;
  return [
    `    <testcase classname="petstore.${level}" name="${escaped(name)}" time="0">`,
    `      ${outcomeOf(check)}`,
    `      <system-out>${escaped(because)}</system-out>`,
    '    </testcase>',
  ].filter((line) => line.trim() !== '');
}

function outcomeOf(check: CheckResult): string {
  const { level, result, because, evidence, advice } = check;
  if (isFailure(check)) {
    const details = `${because}\nRequests: ${evidence.join(', ')}\n${advice}`;
    return `<failure type="${level}" message="${escaped(because)}">${escaped(details)}</failure>`;
  }
  if (!isSkipped(check)) return '';
  const why = result === 'failed' ? `Failed, and is ${level} only: ${because}` : `Not observed: ${because}`;
  return `<skipped message="${escaped(why)}"/>`;
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // A parser would make spaces of them in an attribute.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** What XML 1.0 has no way to write: most control characters, halves of surrogate pairs, and two that are no characters. */
const unwritable = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** A text within an element or an attribute. */
const escaped = (text: string) =>
  text
    .replace(unwritable, '\u{fffd}')
    .replace(/[&<>"'\t\n\r]/g, (character) => entities[character] as string);
