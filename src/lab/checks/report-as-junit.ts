import { escapeXml } from '../../foundation/escape-xml.ts';
import type { CheckResult, Report } from './report.ts';

/**
 * A report card as JUnit XML for CI systems: each check is a test case. Only a failed required check is a failure, so that a CI run
 * fails exactly if the verdict is `failed`. Failed recommended checks and checks that were not observed are skipped, with the reason.
 */
export function asJunit({ recording, version, verdict, checks }: Report): string {
  const counts = `tests="${checks.length}" failures="${count(checks, isFailure)}" errors="0" skipped="${count(checks, isSkipped)}" time="0"`;
  const properties = Object.entries({ recording, version, verdict }).map(
    ([name, value]) => `      <property name="${name}" value="${escapeXml(String(value))}"/>`,
  );
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="petstore lab" ${counts}>`,
    `  <testsuite name="report card of ${escapeXml(recording)}" ${counts}>`,
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
    `    <testcase classname="petstore.${level}" name="${escapeXml(name)}" time="0">`,
    `      ${outcomeOf(check)}`,
    `      <system-out>${escapeXml(because)}</system-out>`,
    '    </testcase>',
  ].filter((line) => line.trim() !== '');
}

function outcomeOf(check: CheckResult): string {
  const { level, result, because, evidence, advice } = check;
  if (isFailure(check)) {
    const details = `${because}\nRequests: ${evidence.join(', ')}\n${advice}`;
    return `<failure type="${level}" message="${escapeXml(because)}">${escapeXml(details)}</failure>`;
  }
  if (!isSkipped(check)) return '';
  const why = result === 'failed' ? `Failed, but is only ${level}: ${because}` : `Not observed: ${because}`;
  return `<skipped message="${escapeXml(why)}"/>`;
}
