import { readFileSync } from 'node:fs';
import { command, firstStart, neededNode } from '#distribution';
import { maxChangesPerHour } from '../../accounts/own-operations.ts';
import { contentInWords } from '../../db/tables.ts';
import { maxBodyBytes, maxDepth, maxHeaderBytes, maxValues } from '../../foundation/bounds.ts';
import { settings } from '../../foundation/settings/config.ts';
import {
  banRules,
  keptBoundsOf,
  maxStreams,
  maxWebhooks,
  minStrikes,
  type Plan,
  plans,
  type Quota,
} from '../../foundation/settings/plans.ts';
import { dayMs } from '../../foundation/time.ts';
import { capitalized, durationInWords, grouped, kibibytes, markdownTable } from '../../foundation/words.ts';
import { rememberHours } from '../../http/idempotency.ts';
import { defaultLimit, maxLimit } from '../../http/pagination.ts';
import { faults } from '../../lab/faults/list.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { labKeptBounds, labQuota, maxResetRows } from '../../lab/lab-bounds.ts';
import { selectorOf } from '../../lab/rehearsals/fault-selector.ts';
import type { PlannedFault } from '../../lab/rehearsals/schema.ts';
import { toolsFor } from '../../mcp/tools.ts';
import { events } from '../../store/events/schema.ts';
import { lifetimeMs } from '../../store/events/stream.ts';
import { disableAfterMs, maxUnrecorded, retryDelaysMs } from '../../store/webhooks/retry-policy.ts';
import { batchMs } from '../../store/webhooks/send-batch.ts';
import { attemptTimeoutMs } from '../../store/webhooks/send-request.ts';
import { previousSecretMs } from '../../store/webhooks/webhook-store.ts';
import { fileOf, type Guide, guideNames } from './guide-names.ts';
import { raiseHeadings } from './markdown.ts';

/** The guides, for an API at `baseUrl`. */
export function guides(baseUrl: string, hasLab = true): Guide[] {
  const rootUrl = baseUrl.replace(/\/v1$/, '');
  const values = { ...facts(), tools: toolTable(hasLab), base_url: baseUrl, root_url: rootUrl };
  const examples = fill(faults.map(faultExample).join('\n\n'), values);
  return guideNames(hasLab).map((name) => ({
    name,
    description: fill(fileText(`guides/${fileOf(name)}`), { ...values, examples }),
  }));
}

/** A guide as a document of its own. In the reference its sections are below the heading of a tag. */
export const guideText = ({ name, description }: Guide, rootUrl: string) =>
  `# ${name}

${raiseHeadings(description)}

---

[All guides and documents of this API](${rootUrl}/llms.txt)
`;

/** The text of a file beside this one. */
export const fileText = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8').trimEnd();

/** Replaces `{names}` by their values, but not `${name}`, `%{name}` and `{petId}`. Throws for a name without a value. */
export function fill(text: string, values: Record<string, string>): string {
  return text.replaceAll(/(?<![$%])\{([a-z_]+)\}/g, (token, name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`A text uses ${token}, which has no value.`);
    return value;
  });
}

/** The values of the code that the guides mention. */
const facts = () => ({
  command,
  first_start: firstStart,
  needed_node: String(neededNode),
  plans: planTable(),
  plan_changes: grouped(maxChangesPerHour),
  signups_per_day: settings.signUpsPerDay.default,
  free_pace_seconds: grouped(Math.ceil(dayMs / 1000 / plans.free.perDay)),
  ban_min_strikes: grouped(minStrikes),
  ban_first_seconds: grouped(banRules.firstMs / 1000),
  ban_growth: grouped(banRules.growth),
  ban_longest_minutes: grouped(banRules.longestMs / 60_000),
  ban_memory_hours: grouped(banRules.memoryMs / 3_600_000),
  max_body: kibibytes(maxBodyBytes),
  max_headers: kibibytes(maxHeaderBytes),
  max_levels: grouped(maxDepth),
  max_values: grouped(maxValues),
  idempotency_hours: grouped(rememberHours),
  kept_keys: keptTable(),
  max_reset_rows: grouped(maxResetRows),
  content: contentInWords,
  lab_kept_keys: grouped(labKeptBounds.keys),
  lab_kept_megabytes: megabytes(labKeptBounds.bytes),
  max_page: grouped(maxLimit),
  default_page: grouped(defaultLimit),
  event_types: eventTable(),
  event_days: settings.maxEventAgeMs.default,
  event_count: grouped(Number(settings.maxEventCount.default)),
  stream_minutes: grouped(lifetimeMs / 60_000),
  streams_per_plan: perPlan(maxStreams),
  webhooks_per_plan: perPlan(maxWebhooks),
  webhook_seconds: grouped(attemptTimeoutMs / 1000),
  webhook_batch_ms: grouped(batchMs),
  webhook_unrecorded: grouped(maxUnrecorded),
  webhook_delays: inWords(retryDelaysMs.map((ms) => durationInWords(ms / 1_000))),
  webhook_failing_days: grouped(disableAfterMs / dayMs),
  faults: faultTable(),
  conditions: inWords(faults.filter(({ isCondition }) => isCondition).map(({ name }) => `\`${name}\``)),
  lab_requests: grouped(labQuota.perMinute),
  mcp_messages: grouped(labQuota.perMinute),
  rotation_hours: grouped(previousSecretMs / 3_600_000),
});

const inWords = (parts: string[]) => `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

const perPlan = (numbers: Record<Plan, number>) =>
  inWords(Object.entries(numbers).map(([plan, number]) => `${capitalized(plan)} ${grouped(number)}`));

function planTable(): string {
  const rows = Object.entries(plans).map(([plan, quota]) => [
    capitalized(plan),
    quota ? grouped(quota.perMinute) : 'set for each key',
    quota ? grouped(quota.perDay) : 'set for each key',
    grouped(maxStreams[plan as Plan]),
  ]);
  return markdownTable(['Plan', 'Requests per minute', 'Requests per day', 'Streams at once'], rows);
}

function keptTable(): string {
  const bounded = Object.entries(plans).flatMap(([plan, quota]: [string, Quota | undefined]) => {
    const bounds = quota && keptBoundsOf(quota);
    return bounds ? [[capitalized(plan), grouped(bounds.keys), megabytes(bounds.bytes)]] : [];
  });
  return markdownTable(['Plan', '`Idempotency-Key`s', 'Bytes with their responses'], bounded);
}

const megabytes = (bytes: number) => `${grouped(bytes / 1_000_000)} MB`;

function toolTable(hasLab: boolean): string {
  const rows = toolsFor(hasLab).map(({ name, description, start, operation: { method, path } }) => [
    `\`${name}\``,
    description,
    `\`${method} ${start}${path}\``,
  ]);
  return markdownTable(['Tool', 'What it does', 'Request'], rows);
}

function eventTable(): string {
  const rows = events.map(({ type, data, meaning }) => [
    `\`${type}\``,
    (data as { title?: string }).title ?? 'an empty object',
    meaning,
  ]);
  return markdownTable(['Type', '`data`', 'Meaning'], rows);
}

function faultTable(): string {
  const rows = faults.map(({ name, goodClient }) => [`\`${name}\``, goodClient]);
  return markdownTable(['Fault', 'A good client'], rows);
}

/** A fault with its worked example from `lab/faults/NAME.md`: a rehearsal, and the output of a client. */
function faultExample({ name, parameters, does, goodClient, whyItMatters }: Fault): string {
  const text = fileText(`../../lab/faults/${name}.md`);
  const [, rehearsal = ''] = /^```json\n(.*)\n```/.exec(text) ?? [];
  const { faults }: { faults: PlannedFault[] } = JSON.parse(rehearsal);
  const taken = Object.entries(parameters as Record<string, { description?: string }>).map(
    ([parameter, { description }]) => `- **Parameter** \`${parameter}\`: ${description}\n`,
  );
  return `### ${name}

- **The service:** ${does}
${taken.join('')}- **A good client:** ${goodClient}
- **Why it matters:** ${whyItMatters}

\`${command} lab rehearse ${faults.map(selectorOf).join(' ')}\`, or \`POST /lab/rehearsals\` with:

${text.replace(/```\n\n```text/, '```\n\nThe client prints:\n\n```text')}`;
}
