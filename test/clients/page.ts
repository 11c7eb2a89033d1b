import type { Grade, Verdict } from '../../src/grade/grade.ts';
import type { Client } from './clients.ts';
import { pinnedVersion } from './pins.ts';
import { remedies } from './remedies.ts';

/** A client, and how its program stood the faults. */
export interface GradedClient {
  client: Client;
  grade: Grade;
}

/** How a verdict stands in the table. */
export const shownVerdicts: Record<Verdict, string> = {
  survived: '✓ survived',
  'changed-the-store': '≠ changed',
  failed: '✗ failed',
  hung: '⧗ hung',
  'not-reached': '– not reached',
};

/** The page about graded clients. `versions` names what ran them. */
export const gradedPage = (graded: readonly GradedClient[], date: string, versions: readonly string[]) =>
  `${[
    '# Graded clients',
    'This page is made by `npm run grade:clients`, which takes about ten minutes. Do not edit it.',
    `Each client that the guide [Generate a client](../src/openapi/guides/generate-a-client.md) tells how to make is graded here by \`petstore grade\`, as it was
on ${date}, with ${versions.join(', ')}. What runs is the tour in [test/clients/tours](../test/clients/tours): it adds a pet with an \`Idempotency-Key\`, reads all
pets page by page, renames one, places an order and changes it with \`If-Match\`, and reads events. Against faults it does nothing of
its own: when the client tells of an error, it ends. So the table shows what the client does by itself, and what is left to you.`,
    `- **✓ survived:** the same result and the same store as without the fault.
- **✗ failed:** the program ended with an error, which is the least that a client must do.
- **≠ changed:** the program succeeded, and left something else in the store.
- **⧗ hung:** it did not end.
- **– not reached:** it did nothing that the fault could touch.`,
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
    'What each fault is, the guide [Rehearse failures](../src/openapi/guides/rehearse-failures.md) tells.',
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
  const differences = grade.faults.filter(({ verdict }) => verdict === 'changed-the-store');
  return [
    `## ${heading}`,
    `Made by \`${generator}\` ${pinnedVersion(generator)}. It survived ${survived.length} of ${grade.faults.length} faults: ${named(survived)}. What you must add:`,
    [
      ...needs.map(({ add, met }) => `- ${add} Without that it did not survive ${named(met)}.`),
      ...differences.map(
        ({ fault, difference }) => `- Under \`${fault}\` the store was another: ${difference.join('; ')}.`,
      ),
      ...(needs.length > 0 ? [`- Where: ${hook}`] : []),
    ].join('\n'),
  ].join('\n\n');
}

const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
