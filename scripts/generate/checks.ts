/** Writes `docs/checks.md` from the checks themselves: `npm run generate -- checks`. */

import { writeFileSync } from 'node:fs';
import { fileOf } from '../../src/description/guide-names.ts';
import type { Check } from '../../src/lab/checks/check.ts';
import { checks, checksVersion } from '../../src/lab/checks/list.ts';
import { faultNames } from '../../src/lab/faults/list.ts';
import { burstRequest, ownRequest } from '../../src/lab/own-requests.ts';

/** Faults that no check is about. */
const unchecked = faultNames
  .filter((name) => !checks.some(({ faults }) => faults.includes(name)))
  .map((name) => `\`${name}\``)
  .join(', ');

/** The page about all checks. */
export const checksPage = () =>
  `${[
    '# Checks of a report card',
    'This page is made from the code, by `npm run generate`.',
    `A recording keeps what a client sends and gets, and its report card judges it by these checks, here in version ${checksVersion}.
The version is raised when one is added or removed, or comes to mean something else.`,
    `- **Only what a server can know counts.** It sees when requests arrive, not how long a client meant to wait: only gaps that are too
  short fail.
- **What was not seen is \`not_observed\`**, and never counted as passed. A rehearsal of one of the faults named with it brings it about.
- **A retry is the same request again**: the same method, target and body, begun after an attempt that failed. A client that asks the same
  question again after a success does not retry. Only sure retries count against a client: a POST that was refused
  or cut off before its body was read is known by its \`Idempotency-Key\` alone, a change by its resource, its length and its conditions.
- **\`grade\` knows what the program sends without faults.** Under a fault, an equal request beyond that number is a retry, whatever
  connection it came on. This does not hold for reads that the program repeats anyway.
- **One worker** sent all requests of a recording in which no two were in flight at once. Then each equal request after a failure
  is a retry, whatever connection it came on.
- **If requests overlap, there are several workers.** One of them sent two equal requests if both came on one connection, and nothing was in
  flight on others from the first to the second. Else another worker may have sent the second.
- **A busy machine accuses nobody.** A wait counts from the beginning of the refused request, since the service may note the end of its answer
  late. How long after a refusal another worker sends a request shows nothing: only a client that was told surely must wait.
- **What a client makes of an answer is not seen here.** No check belongs to ${unchecked}, and none tells
  whether a client took the half that \`truncated\` leaves for the whole. Only the client's own result can judge that.
- **The verdict** is \`failed\` if a required check failed, \`incomplete\` if no required check was observed, and else \`passed\`: a recording
  under one fault shows some cases and not others, so it need not show all. Whether each fault was
  performed, the rehearsal tells. In JUnit only a required check that failed is a failure.
- **Behind a proxy** connections and cuts are not those of the client, and are not judged.
- **What the page of the lab sends itself is not judged**: requests whose \`X-Request-Id\` begins with \`${ownRequest}\`, and not with \`${burstRequest}\`.
- Read the report when the client has ended: one that still waits looks like one that has given up.`,
    ['| Check | Level | What it asks |', '| ----- | ----- | ------------ |', ...checks.map(rowOf)].join('\n'),
    ...checks.map(describe),
  ].join('\n\n')}\n`;

const rowOf = ({ name, level, asks }: Check) => `| [\`${name}\`](#${anchorOf(name)}) | ${level} | ${asks} |`;

const anchorOf = (name: string) => name.replaceAll('.', '');

const describe = ({ name, level, asks, judged, unseen, faults, advice, guide }: Check) =>
  [
    `## ${name}`,
    `*${level}.* ${asks}`,
    [
      `- **Judged:** ${judged}`,
      `- **Not observed:** ${unseen}`,
      `- **Brought about by:** ${faults.map((fault) => `\`${fault}\``).join(', ') || 'no fault is needed'}.`,
      `- **What to do:** ${advice}`,
      `- **More:** the guide [${guide}](../src/description/guides/${fileOf(guide)}).`,
    ].join('\n'),
  ].join('\n\n');

if (import.meta.main) writeFileSync(new URL('../../docs/checks.md', import.meta.url), checksPage());
