import type { Grade, Verdict } from '../../src/grade/grade.ts';
import { checksVersion } from '../../src/lab/checks/list.ts';
import type { Client } from './clients.ts';
import { pinnedVersion } from './pins.ts';
import { remedies } from './remedies.ts';

/** A client, and the grade of its program. */
export interface GradedClient {
  client: Client;
  grade: Grade;
}

/** The text of each verdict in the table. */
export const shownVerdicts: Record<Verdict, string> = {
  survived: '✓ survived',
  'did-it-twice': '≠ did it twice',
  'left-undone': '≠ left it undone',
  'did-something-else': '≠ did something else',
  'printed-something-else': '≠ printed something else',
  'reported-failure': '! reported the failure, but exited with 0',
  failed: '✗ failed',
  hung: '⧗ hung',
  'not-reached': '– not reached',
};

/** The sentence of the page that names the version of the checks and the number of faults. */
export const gradedWith = (version: number, faultCount: number) =>
  `grades by version ${version} of the checks under ${faultCount} faults`;

/** The page about graded clients. `versions` names the programs that ran them. */
export const gradedPage = (graded: readonly GradedClient[], date: string, versions: readonly string[]) =>
  `${[
    '# Graded clients',
    'This page is made by `npm run generate -- graded-clients`, which takes about ten minutes. Do not edit it.',
    `It contains ${gradedWith(checksVersion, graded[0]?.grade.faults.length ?? 0)}. Newer faults are missing until the page is made again.`,
    `\`petstore grade\` graded each client of the guide [Generate a client](../src/reference/description/guides/generate-a-client.md) on ${date},
with ${versions.join(', ')}. The graded program is the tour in [test/clients/tours](../test/clients/tours). It adds a pet with an \`Idempotency-Key\`, reads all
pets page by page, renames one, places an order and changes it with \`If-Match\`, and reads events. The program itself does not handle
faults: it ends when the client reports an error. So the table shows what the client does by itself, and what you must add.`,
    `- **✓ survived:** the program did the same as without the fault, once, and printed the same.
- **✗ failed:** the program ended with an error. A client must do at least this.
- **≠:** the program did something twice. Or it reported success, but left work undone, did something else, or printed something else.
- **⧗ hung:** the program did not end.
- **– not reached:** the program sent no request that the fault could affect.`,
    [
      row('Fault', ...graded.map(({ client }) => client.heading)),
      row('---', ...graded.map(() => '---')),
      ...(graded[0]?.grade.faults ?? []).map(({ fault, required }, i) =>
        row(
          `\`${fault}\`${required ? ', required' : ''}`,
          ...graded.map(({ grade }) => shownVerdicts[grade.faults[i]?.verdict as Verdict]),
        ),
      ),
    ].join('\n'),
    'The guide [Rehearse failures](../src/reference/description/guides/rehearse-failures.md) explains each fault.',
    ...graded.map(section),
  ].join('\n\n')}\n`;

const row = (...cells: string[]) => `| ${cells.join(' | ')} |`;

function section({ client: { heading, generator, hook }, grade }: GradedClient): string {
  const faultsBy = (isSuch: (verdict: Verdict) => boolean) =>
    grade.faults.filter(({ verdict }) => isSuch(verdict)).map(({ fault }) => fault);
  const survived = faultsBy((verdict) => verdict === 'survived');
  const harmed = faultsBy((verdict) => verdict !== 'survived' && verdict !== 'not-reached');
  const needs = remedies
    .map(({ faults, add }) => ({ add, met: faults.filter((fault) => harmed.includes(fault)) }))
    .filter(({ met }) => met.length > 0);
  const deviations = grade.faults.flatMap(({ fault, runs }) => {
    const what = new Set(runs.flatMap((run) => run.deviations.map((deviation) => deviation.what)));
    return what.size > 0 ? [`- Under \`${fault}\`: ${[...what].join('; ')}.`] : [];
  });
  return [
    `## ${heading}`,
    `Made by \`${generator}\` ${pinnedVersion(generator)}. It survived ${named(survived)}. What you must add:`,
    [
      ...needs.map(({ add, met }) => `- ${add} Without this it did not survive ${named(met)}.`),
      ...deviations,
      ...(needs.length > 0 ? [`- Where to add it: ${hook}`] : []),
    ].join('\n'),
  ].join('\n\n');
}

const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
