import { dayMs, hourMs, minuteMs } from '../time.ts';

/** The number of requests admitted in a calendar minute and in a calendar day, both in UTC. */
export interface Quota {
  perMinute: number;
  perDay: number;
}

/** The plans and their quotas. Each Enterprise key has its own quota. */
export const plans = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: undefined,
} as const satisfies Record<string, Quota | undefined>;

/** A quota that no program uses up, for keys of tests and of `grade`. */
export const ampleQuota: Quota = { perMinute: 1_000_000, perDay: 10_000_000 };

export type Plan = keyof typeof plans;

/** How many Idempotency-Keys of an API key are stored, and their bytes. 24 hours span two days, so the plan's limit comes first. */
export function keptBoundsOf({ perDay }: Quota) {
  const keys = 2 * perDay;
  return { keys, bytes: Math.max(keys * 2_000, 8_000_000) };
}

/** The maximum number of open event streams of a key, by plan. */
export const maxStreams = { free: 2, pro: 5, business: 20, enterprise: 100 } as const satisfies Record<
  Plan,
  number
>;

export const planNames = Object.keys(plans) as Plan[];

/** A plan that keys can get without an agreement. */
export type OpenPlan = Exclude<Plan, 'enterprise'>;
export const openPlanNames = planNames.filter((plan): plan is OpenPlan => plan !== 'enterprise');

/** The maximum number of webhooks of a workspace, by the plan of the key that adds one. */
export const maxWebhooks = { free: 2, pro: 10, business: 50, enterprise: 100 } as const satisfies Record<
  Plan,
  number
>;

/** When a caller is banned, and for how long. */
export const banRules = {
  /** Strikes allowed per minute, as a multiple of the plan's requests per minute. */
  strikesFactor: 1,
  firstMs: minuteMs,
  longestMs: hourMs,
  /** The factor by which each further ban is longer. */
  growth: 2,
  /** Within this time after the start of a ban, the next ban is longer. */
  memoryMs: dayMs,
};

export type BanRules = typeof banRules;

/** The minimum number of strikes allowed per minute. */
export const minStrikes = 10;
