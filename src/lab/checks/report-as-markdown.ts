import { markdownTable } from '../../foundation/words.ts';
import type { CheckResult, Report } from './report-schema.ts';

const marks = { passed: '✅ passed', failed: '❌ failed', not_observed: '– not observed' };

const verdicts = {
  passed:
    'No required check failed, and at least one was observed. The rehearsal shows whether each fault was performed.',
  failed: 'A required check failed.',
  incomplete: 'No required check was observed: the requests show no evidence for or against one.',
};

/** A report card as Markdown: the failures first, then a table of all checks. */
export function asMarkdown({ recording, version, verdict, checks }: Report): string {
  const failures = checks.filter(({ result }) => result === 'failed');
  return `${[
    `# Report card: ${verdict}`,
    `${verdicts[verdict]} Recording \`${recording}\`, checks of version ${version}.`,
    ...failures.map(describeFailure),
    '## All checks',
    markdownTable(['Check', 'Level', 'Result', 'Because', 'Requests'], checks.map(rowOf)),
  ].join('\n\n')}\n`;
}

const describeFailure = ({ name, level, because, evidence, advice, guide }: CheckResult) =>
  `## ${name} failed (${level})\n\n${escaped(because)} ${seeRequests(evidence)}\n\n**What to do:** ${advice} See the guide "${guide}".`;

const seeRequests = (evidence: readonly string[]) =>
  evidence.length > 0 ? `See the requests ${evidence.join(', ')}.` : '';

const rowOf = ({ name, level, result, because, evidence }: CheckResult) => [
  `\`${name}\``,
  level,
  marks[result],
  escaped(because),
  evidence.join(', '),
];

/** Escapes Markdown, since texts may hold what a client sent. */
const escaped = (text: string) => text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|~&]/g, '\\$&');
