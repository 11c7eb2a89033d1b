import { escapeXml } from '../../foundation/escape-xml.ts';
import { escapeTerminal } from '../../foundation/terminal-text.ts';
import { withoutFaults } from '../grade.ts';
import type { Card, Evidence, Finding, Row } from './card.ts';
import { howEnded } from './words.ts';

interface Case {
  name: string;
  suite: 'required' | 'recommended' | 'check';
  tookMs: number;
  failure?: { type: string; message: string; details: string[] } | undefined;
  skipped?: string | undefined;
  output?: readonly string[];
}

/**
 * A grade as JUnit XML for CI systems. The program without faults, each run under a fault, and each check are test cases. There is a
 * failure exactly if the verdict is `failed`. These are skipped, with the reason: recommended faults that were not survived, recommended
 * checks that failed, faults that were not reached, and checks that were not observed.
 */
export function toJunit(card: Card): string {
  const { grade, rows, atMs } = card;
  const isBroken = grade.baseline.problem !== undefined;
  const cases = [baselineCase(card), ...rows.map(rowCase), ...(isBroken ? [] : checkCases(card))];
  const time = inSeconds(cases.reduce((sum, { tookMs }) => sum + tookMs, 0));
  const failures = cases.filter(({ failure }) => failure).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0" time="${time}"`;
  const properties = { verdict: grade.verdict, runs: grade.runCount };
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="petstore grade" ${counts}>`,
    `  <testsuite name="${escaped(grade.command.join(' '))}" timestamp="${new Date(atMs).toISOString().slice(0, 19)}" ${counts} skipped="${skipped}">`,
    '    <properties>',
    ...Object.entries(properties).map(([name, value]) => `      <property name="${name}" value="${value}"/>`),
    '    </properties>',
    ...cases.flatMap(linesOf),
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')}\n`;
}

function baselineCase({ grade: { baseline, goal }, notes, refused }: Card): Case {
  const { problem, tookMs, lastLines } = baseline;
  const refusals = refused.map((request) => `Refused ${withoutFaults}: ${requestInWords(request)}`);
  return {
    // With a goal, each trial has a case of its own.
    name: goal ? `any trial ${withoutFaults}` : withoutFaults,
    ...{ suite: 'required', tookMs, output: [...notes, ...refusals, ...lastLines] },
    ...(problem !== undefined && {
      failure: { type: 'baseline', message: problem, details: [howEnded(baseline)] },
    }),
  };
}

function rowCase({ name, required, rank, verdict, word, happened, findings, run, again }: Row): Case {
  const message = happened === '' ? word : `${word}: ${happened}`;
  const deviations = findings.filter(({ kind }) => kind !== 'check').flatMap(detailsOf);
  const details = [...deviations, `Run again: ${again}`];
  const output = rank === 'must-fix' ? [] : [message, ...(deviations.length > 0 ? details : [])];
  return {
    ...{ name, suite: required ? 'required' : 'recommended', tookMs: run?.tookMs ?? 0 },
    ...(rank === 'must-fix' && { failure: { type: verdict, message, details } }),
    ...(rank === 'not-reached' && { skipped: message }),
    ...(rank === 'should-fix' && { skipped: `Recommended only: ${message}` }),
    output: [...output, ...(run?.lastLines ?? [])],
  };
}

/** A case for each check: whether it failed in any run. */
function checkCases({ grade: { baseline, faults }, problems }: Card): Case[] {
  const { trials = [] } = baseline;
  const runs = [baseline, ...trials, ...faults.flatMap((fault) => fault.runs)];
  const results = runs.flatMap((run) => run.checks);
  return baseline.checks.map(({ name, level }): Case => {
    const facts = { name, suite: 'check' as const, tookMs: 0 };
    const problem = problems.find(({ kind, title }) => kind === 'check' && title === name);
    if (!problem) {
      const isSeen = results.some((result) => result.name === name && result.result === 'passed');
      return isSeen ? facts : { ...facts, skipped: 'Not observed in any run.' };
    }
    const { where, alsoAt, what } = problem;
    const places = [where, ...alsoAt].join('; ');
    const details = [...detailsOf(problem), `In: ${places}`];
    return level === 'required'
      ? { ...facts, failure: { type: 'check', message: what, details } }
      : { ...facts, skipped: `Recommended only: ${what}`, output: details };
  });
}

const detailsOf = ({ title, what, where, evidence, service, goodClient, change }: Finding): string[] => [
  `${where}: ${title}: ${what}`,
  ...evidence.map(requestInWords),
  ...(service === undefined ? [] : [`The service: ${service}`]),
  ...(goodClient === undefined ? [] : [`A good client: ${goodClient}`]),
  ...(change === undefined ? [] : [`Fix: ${change}`]),
];

const requestInWords = ({ id, at, method, target, key, outcome, isAffected }: Evidence) =>
  `#${id} ${at} ${method} ${target}${key === undefined ? '' : `, key ${key}`}: ${outcome}${isAffected ? ' (fault)' : ''}`;

const linesOf = ({ name, suite, tookMs, failure, skipped, output = [] }: Case): string[] => [
  `    <testcase classname="petstore.${suite}" name="${escaped(name)}" time="${inSeconds(tookMs)}">`,
  ...(failure
    ? [
        `      <failure type="${failure.type}" message="${escaped(failure.message)}">${escapedLines(failure.details)}</failure>`,
      ]
    : []),
  ...(skipped === undefined ? [] : [`      <skipped message="${escaped(skipped)}"/>`]),
  ...(output.length > 0 ? [`      <system-out>${escapedLines(output)}</system-out>`] : []),
  '    </testcase>',
];

const escaped = (text: string) => escapeXml(escapeTerminal(text));
const escapedLines = (lines: readonly string[]) => escapeXml(lines.map(escapeTerminal).join('\n'));

const inSeconds = (ms: number) => (ms / 1_000).toFixed(3);
