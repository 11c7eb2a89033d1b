/** Writes `docs/checks.md` from the checks themselves: `npm run -s checks`. */

import { burstRequest, ownRequest } from '../src/lab/own-requests.ts';
import { faultNames } from '../src/lab/rehearsals/faults.ts';
import { checks, checksVersion } from '../src/lab/report/checks/all.ts';
import type { Check } from '../src/lab/report/checks/check.ts';
import { fileOf } from '../src/openapi/guides.ts';

/** Faults that no check is about. */
const unchecked = faultNames
  .filter((name) => !checks.some(({ faults }) => faults.includes(name)))
  .map((name) => `\`${name}\``)
  .join(', ');

/** The page about all checks. */
export const checksPage = () =>
  `${[
    '# Checks of a report card',
    'This page is made from the code, by `npm run -s checks`.',
    `A recording keeps what a client sends and gets, and its report card judges it by these checks, here in version ${checksVersion}.
The version is raised when one is added or removed, or comes to mean something else.`,
    `- **Only what a server can know counts.** It sees when requests arrive, not how long a client meant to wait: gaps that are too short
  fail, and no others. What may have been under way while a refusal was is no disobedience.
- **What was not seen is \`not_observed\`**, and never counted as passed. A rehearsal of one of the faults named with it brings it about.
- **A retry is the same request again**: equal in method, target and body, begun after the end of an attempt that failed. A client
  that asks the same question again after a success does not retry. Against a client count only retries that surely are some:
  a request that was refused or cut off before its body was read is known by its \`Idempotency-Key\` alone.
- **The same worker** sent the later of two requests if it came on the connection of the earlier or, when that is not used again, on a new
  one while nothing else was under way, and if nothing was on any other connection from the beginning of the earlier to that of the later.
  Else another worker may have sent it, which had waited for a free connection.
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
      `- **More:** the guide [${guide}](../src/openapi/guides/${fileOf(guide)}).`,
    ].join('\n'),
  ].join('\n\n');

if (import.meta.main) process.stdout.write(checksPage());
