import { readFileSync } from 'node:fs';
import { command, firstStart, neededNode } from '#distribution';
import { grouped, kibibytes, maxBodyBytes, maxDepth, maxHeaderBytes, maxValues } from '../bounds.ts';
import { settings } from '../config.ts';
import { eventMeanings } from '../events/schema.ts';
import { lifetimeMs } from '../events/stream.ts';
import { rememberHours } from '../http/idempotency.ts';
import { labQuota } from '../lab/bounds.ts';
import type { Fault } from '../lab/rehearsals/fault.ts';
import { faults } from '../lab/rehearsals/faults.ts';
import { dayMs, defaultBanRules, minStrikes } from '../limits/decision.ts';
import { maxStreams, maxWebhooks, type Plan, plans } from '../limits/plans.ts';
import { defaultLimit, maxLimit } from '../page.ts';
import { disableAfterMs, retryDelaysMs } from '../webhooks/schedule.ts';
import { attemptMs } from '../webhooks/send.ts';
import { previousSecretMs } from '../webhooks/store.ts';

/** A text about the whole API, in CommonMark. */
export type Guide = {
  name: string;
  description: string;
};

/** In the order in which they are shown. Each is in the file of its name. */
const names = [
  'Getting started',
  'Authentication',
  'Rate limits',
  'Errors',
  'Events',
  'Rehearse failures',
  'Generate a client',
  'Versioning',
];

/** The guide that is of use with a lab alone. */
const labGuide = 'Rehearse failures';

/** Whether there is a lab to tell of. There is one unless it is said. */
interface Parts {
  hasLab?: boolean;
}

const namesFor = ({ hasLab = true }: Parts) => names.filter((name) => hasLab || name !== labGuide);

/** The path of a guide. */
export const guidePath = ({ name }: Pick<Guide, 'name'>) => `/guides/${fileOf(name)}`;

/** The paths of all guides, in their order. */
export const guidePaths = (parts: Parts = {}) => namesFor(parts).map((name) => guidePath({ name }));

/** The guides, for an API at `baseUrl`. */
export function guides(baseUrl: string, parts: Parts = {}): Guide[] {
  const values = { ...facts(), base_url: baseUrl, root_url: baseUrl.replace(/\/v1$/, '') };
  const examples = fill(faults.map(faultExample).join('\n\n'), values);
  return namesFor(parts).map((name) => ({
    name,
    description: fill(textOf(fileOf(name)), { ...values, examples }),
  }));
}

/** The name of the file of a guide. */
export function fileOf(name: string): string {
  return `${name.toLowerCase().replaceAll(' ', '-')}.md`;
}

const textOf = (file: string) => readFileSync(new URL(`guides/${file}`, import.meta.url), 'utf8').trimEnd();

/** Replaces `{names}` by their values; throws for a name without a value. `${name}`, `%{name}` and `{petId}` stay. */
function fill(text: string, values: Record<string, string>): string {
  return text.replaceAll(/(?<![$%])\{([a-z_]+)\}/g, (token, name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`A guide uses ${token}, which has no value.`);
    return value;
  });
}

/** What the guides say of the code, taken from it. */
const facts = () => ({
  command,
  first_start: firstStart,
  needed_node: String(neededNode),
  plans: planTable(),
  free_pace_seconds: grouped(Math.ceil(dayMs / 1000 / plans.free.perDay)),
  ban_min_strikes: grouped(minStrikes),
  ban_first_seconds: grouped(defaultBanRules.firstMs / 1000),
  ban_growth: grouped(defaultBanRules.growth),
  ban_longest_minutes: grouped(defaultBanRules.longestMs / 60_000),
  ban_memory_hours: grouped(defaultBanRules.memoryMs / 3_600_000),
  max_body: kibibytes(maxBodyBytes),
  max_headers: kibibytes(maxHeaderBytes),
  max_levels: grouped(maxDepth),
  max_values: grouped(maxValues),
  idempotency_hours: grouped(rememberHours),
  max_page: grouped(maxLimit),
  default_page: grouped(defaultLimit),
  event_types: eventTable(),
  event_days: settings.maxEventAgeMs.default,
  event_count: grouped(Number(settings.maxEventCount.default)),
  stream_minutes: grouped(lifetimeMs / 60_000),
  streams_per_plan: perPlan(maxStreams),
  webhooks_per_plan: perPlan(maxWebhooks),
  webhook_seconds: grouped(attemptMs / 1000),
  webhook_delays: inWords(retryDelaysMs.map(duration)),
  webhook_failing_days: grouped(disableAfterMs / dayMs),
  faults: faultTable(),
  conditions: inWords(faults.filter(({ isCondition }) => isCondition).map(({ name }) => `\`${name}\``)),
  lab_requests: grouped(labQuota.perMinute),
  rotation_hours: grouped(previousSecretMs / 3_600_000),
});

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const inWords = (parts: string[]) => `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

const perPlan = (numbers: Record<Plan, number>) =>
  inWords(Object.entries(numbers).map(([plan, number]) => `${capitalized(plan)} ${grouped(number)}`));

/** Milliseconds as `30 seconds` or `2 hours`. */
function duration(ms: number): string {
  if (ms < 60_000) return `${ms / 1000} seconds`;
  return ms < 3_600_000 ? `${ms / 60_000} minutes` : `${ms / 3_600_000} hours`;
}

function planTable(): string {
  const rows = Object.entries(plans).map(([plan, quota]) => [
    capitalized(plan),
    quota ? grouped(quota.perMinute) : 'set for each key',
    quota ? grouped(quota.perDay) : 'set for each key',
    grouped(maxStreams[plan as Plan]),
  ]);
  return table(['Plan', 'Requests per minute', 'Requests per day', 'Streams at once'], rows);
}

function eventTable(): string {
  const rows = Object.entries(eventMeanings).map(([type, { data, meaning }]) => [
    `\`${type}\``,
    data.title ?? 'an empty object',
    meaning,
  ]);
  return table(['Type', '`data`', 'Meaning'], rows);
}

function faultTable(): string {
  const rows = faults.map(({ name, goodClient }) => [`\`${name}\``, goodClient]);
  return table(['Fault', 'A good client'], rows);
}

/** A fault with its worked example, which is in the file of its name: a rehearsal, and what comes of it. */
function faultExample({ name, parameters, does, goodClient, bites }: Fault): string {
  const text = textOf(`faults/${name}.md`);
  const [, rehearsal = ''] = /^```json\n(.*)\n```/.exec(text) ?? [];
  const taken = Object.entries(parameters).map(
    ([parameter, schema]) => `\`${parameter}\`: ${descriptionOf(schema)}`,
  );
  return `### ${name}

- **The service:** ${does}
${taken.map((told) => `- **Takes** ${told}\n`).join('')}- **A good client:** ${goodClient}
- **Where it bites:** ${bites}

\`${commandOf(JSON.parse(rehearsal))}\`, or \`POST /lab/rehearsals\` with:

${text.replace(/```\n\n```text/, '```\n\nThe client prints:\n\n```text')}`;
}

const descriptionOf = (schema: object) => (schema as { description: string }).description;

/** The command that begins a rehearsal. */
function commandOf({ faults }: { faults: Record<string, string | number>[] }): string {
  const words = faults.map(({ fault, ...taken }) =>
    [
      fault,
      Object.entries(taken)
        .map((pair) => pair.join('='))
        .join(','),
    ]
      .filter(Boolean)
      .join(':'),
  );
  return `${command} lab rehearse ${words.join(' ')}`;
}

const table = (head: string[], rows: string[][]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
