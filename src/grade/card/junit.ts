import { escapeLines } from '../../foundation/terminal-text.ts';
import { type JunitCase, toJunitXml } from '../../lab/checks/report-as-junit.ts';
import { mapStrings, withoutFaults } from '../grade.ts';
import type { Card, CardFinding, CardRow, Evidence } from './card.ts';
import { howEnded } from './words.ts';

/**
 * A grade as JUnit XML: a test case for the program without faults, each run and each check. A case fails only if the verdict is
 * `failed`. What was recommended and failed, or was not reached or observed, is skipped with the reason.
 */
export function toJunit(card: Card): string {
  const { grade, rows, atMs } = card;
  const isBroken = grade.baseline.problem !== undefined;
  const cases = [baselineCase(card), ...rows.map(rowCase), ...(isBroken ? [] : checkCases(card))];
  const suite = {
    ...{ program: 'petstore grade', name: grade.command.join(' '), atMs },
    ...{ properties: { verdict: grade.verdict, runs: grade.runCount }, cases },
  };
  return toJunitXml(mapStrings(suite, escapeLines));
}

function baselineCase({ grade: { baseline, goal }, notes, refused }: Card): JunitCase {
  const { problem, tookMs, lastLines } = baseline;
  const refusals = refused.map((request) => `Refused ${withoutFaults}: ${requestInWords(request)}`);
  return {
    // With a goal, each trial has a case of its own.
    name: goal ? `any trial ${withoutFaults}` : withoutFaults,
    ...{ classname: 'required', tookMs, output: [...notes, ...refusals, ...lastLines].join('\n') },
    ...(problem !== undefined && {
      failure: { type: 'baseline', message: problem, details: howEnded(baseline) },
    }),
  };
}

function rowCase(row: CardRow): JunitCase {
  const { name, required, rank, verdict, word, happened, findings, run, again } = row;
  const message = happened === '' ? word : `${word}: ${happened}`;
  const deviations = findings.filter(({ kind }) => kind !== 'check').flatMap(detailsOf);
  const details = [...deviations, `Run again: ${again}`];
  const output = rank === 'must-fix' ? [] : [message, ...(deviations.length > 0 ? details : [])];
  return {
    ...{ name, classname: required ? 'required' : 'recommended', tookMs: run?.tookMs ?? 0 },
    ...(rank === 'must-fix' && { failure: { type: verdict, message, details: details.join('\n') } }),
    ...(rank === 'not-reached' && { skipped: message }),
    ...(rank === 'should-fix' && { skipped: `Recommended only: ${message}` }),
    output: [...output, ...(run?.lastLines ?? [])].join('\n'),
  };
}

/** A case for each check: whether it failed in any run. */
function checkCases({ grade: { baseline, faults }, problems }: Card): JunitCase[] {
  const { trials = [] } = baseline;
  const runs = [baseline, ...trials, ...faults.flatMap((fault) => fault.runs)];
  const results = runs.flatMap((run) => run.checks);
  return baseline.checks.map(({ name }): JunitCase => {
    const facts = { name, classname: 'check' };
    const problem = problems.find(({ kind, title }) => kind === 'check' && title === name);
    if (!problem) {
      const isSeen = results.some((result) => result.name === name && result.result === 'passed');
      return isSeen ? facts : { ...facts, skipped: 'Not observed in any run.' };
    }
    const { rank, where, alsoAt, what } = problem;
    const details = [...detailsOf(problem), `In: ${[where, ...alsoAt].join('; ')}`].join('\n');
    return rank === 'must-fix'
      ? { ...facts, failure: { type: 'check', message: what, details } }
      : { ...facts, skipped: `Recommended only: ${what}`, output: details };
  });
}

const detailsOf = ({ title, what, where, evidence, service, goodClient, change }: CardFinding): string[] => [
  `${where}: ${title}: ${what}`,
  ...evidence.map(requestInWords),
  ...(service === undefined ? [] : [`The service: ${service}`]),
  ...(goodClient === undefined ? [] : [`A good client: ${goodClient}`]),
  ...(change === undefined ? [] : [`Fix: ${change}`]),
];

const requestInWords = ({ id, at, method, target, key, outcome, isAffected }: Evidence) =>
  `#${id} ${at} ${method} ${target}${key === undefined ? '' : `, key ${key}`}: ${outcome}${isAffected ? ' (fault)' : ''}`;
