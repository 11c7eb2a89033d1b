import { readFileSync } from 'node:fs';
import { grouped, kibibytes, maxBodyBytes, maxDepth, maxHeaderBytes, maxValues } from '../bounds.ts';
import { rememberHours } from '../http/idempotency.ts';
import { dayMs, defaultBanRules, minStrikes } from '../limits/decision.ts';
import { plans } from '../limits/plans.ts';
import { defaultLimit, maxLimit } from '../page.ts';

/** A text about the whole API, in CommonMark. */
export type Guide = {
  name: string;
  description: string;
};

/** In the order in which they are shown. Each is in the file of its name. */
const names = ['Getting started', 'Authentication', 'Rate limits', 'Errors', 'Events', 'Versioning'];

/** The guides, for an API at `baseUrl`. */
export function guides(baseUrl: string): Guide[] {
  const values = { ...facts(), base_url: baseUrl, root_url: baseUrl.replace(/\/v1$/, '') };
  return names.map((name) => ({ name, description: fill(textOf(name), values) }));
}

const textOf = (name: string) =>
  readFileSync(
    new URL(`guides/${name.toLowerCase().replaceAll(' ', '-')}.md`, import.meta.url),
    'utf8',
  ).trimEnd();

/** Replaces `{names}` by their values; throws for a name without a value. `${name}` and `{petId}` stay. */
function fill(text: string, values: Record<string, string>): string {
  return text.replaceAll(/(?<!\$)\{([a-z_]+)\}/g, (token, name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`A guide uses ${token}, which has no value.`);
    return value;
  });
}

/** The numbers of the guides, taken from the code that uses them. */
const facts = () => ({
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
});

function planTable(): string {
  const rows = Object.entries(plans).map(([plan, quota]) => [
    plan.charAt(0).toUpperCase() + plan.slice(1),
    quota ? grouped(quota.perMinute) : 'set for each key',
    quota ? grouped(quota.perDay) : 'set for each key',
  ]);
  return [['Plan', 'Requests per minute', 'Requests per day'], ['---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
