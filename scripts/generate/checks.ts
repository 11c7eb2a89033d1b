/** Writes `docs/checks.md` from the checks themselves: `npm run generate -- checks`. */

import { writeFileSync } from 'node:fs';
import { markdownTable } from '../../src/foundation/words.ts';
import type { Check } from '../../src/lab/checks/check.ts';
import { checks, checksVersion } from '../../src/lab/checks/list.ts';
import { faultNames } from '../../src/lab/faults/list.ts';
import { fileOf } from '../../src/reference/description/guide-names.ts';

/** Faults without a check. */
const unchecked = faultNames
  .filter((name) => !checks.some(({ faults }) => faults.includes(name)))
  .map((name) => `\`${name}\``)
  .join(', ');

/** The page about all checks. */
export const checksPage = () =>
  `${[
    '# Checks of a report card',
    'This page is generated from the code by `npm run generate`.',
    `A recording stores the requests of a client and their responses. These checks judge them on a report card. This is version ${checksVersion} of the
checks. The version increases when a check is added or removed, or changes its meaning.`,
    `- **Only what a server can know counts.** It sees when requests arrive, not how long a client intended to wait. So only waits that are
  too short fail.
- **Without evidence the result is \`not_observed\`**, never \`passed\`. To get evidence, rehearse one of the faults listed with the check.
- **A retry is the same request again** after a failed attempt: the same method, target and body. A request that is repeated after a success
  is no retry. A request counts against a client as a retry only if it surely is one. If the service did not read the body, a POST is
  identified only by its \`Idempotency-Key\`, and a change by its resource, length and conditions.
- **\`grade\` knows what the program sends without faults.** If the program sends a request more often under a fault, the additional ones
  are retries, on any connection. This does not apply to reads that the program repeats anyway.
- **A worker is one line of requests of the client**, such as a thread: it sends the next request when it has the response to the last one.
  One worker sent all requests if no two were in flight at once. Then each equal request after a failure is a retry, on any connection.
- **If requests overlap, there are several workers.** Two equal requests come from one worker if both came on one connection, and nothing
  was in flight on other connections between them. Otherwise another worker may have sent the second.
- **No client fails because a machine is slow.** A wait counts from the start of the refused request, because the service may record the
  end late. Requests of other workers are no evidence: only the worker that got the refusal must wait.
- **Checks do not see how a client uses a response.** So ${unchecked} have no check. A check also cannot see
  whether a client accepts the incomplete response of \`truncated\`. Only the client's own result can show that.
- **The verdict** is \`failed\` if a required check failed, \`incomplete\` if no required check was observed, and otherwise \`passed\`. A
  recording does not have to show all cases. The rehearsal shows whether each fault was performed. In JUnit only a failed required check
  is a failure.
- **Behind a proxy** the connections are not those of the client, and are not judged.
- **Requests that the lab page sends for itself are not judged.** A recording marks them with \`labPage\`, because they contain a token of the
  service. No other header and no \`X-Request-Id\` hides a request. The requests of the page's demos are judged.
- Read the report after the client has ended: a client that is still waiting counts as one that gave up.`,
    markdownTable(['Check', 'Level', 'Requirement'], checks.map(rowOf)),
    ...checks.map(describe),
  ].join('\n\n')}\n`;

const rowOf = ({ name, level, asks }: Check) => [`[\`${name}\`](#${anchorOf(name)})`, level, asks];

const anchorOf = (name: string) => name.replaceAll('.', '');

const describe = ({ name, level, asks, judged, unseen, faults, advice, guide }: Check) =>
  [
    `## ${name}`,
    `*${level}.* ${asks}`,
    [
      `- **Judged:** ${judged}`,
      `- **Not observed:** ${unseen}`,
      `- **Faults that show it:** ${faults.map((fault) => `\`${fault}\``).join(', ') || 'none needed'}.`,
      `- **What to do:** ${advice}`,
      `- **More:** the guide [${guide}](../src/reference/description/guides/${fileOf(guide)}).`,
    ].join('\n'),
  ].join('\n\n');

if (import.meta.main) writeFileSync(new URL('../../docs/checks.md', import.meta.url), checksPage());
