/** How many requests are admitted in a calendar minute and a calendar day, both in UTC. */
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

/** A quota that no program uses up. Keys of tests and of `grade` have it. */
export const ampleQuota: Quota = { perMinute: 1_000_000, perDay: 10_000_000 };

export type Plan = keyof typeof plans;

/**
 * How many Idempotency-Keys of an API key are kept below `/v1`, and their bytes. 24 hours span two calendar days, so the plan's limit
 * comes first. Most rows have 500 bytes.
 */
export function keptBoundsOf({ perDay }: Quota) {
  const keys = 2 * perDay;
  return { keys, bytes: Math.max(keys * 2_000, 8_000_000) };
}

/** How many event streams a key may have open at once, by plan. */
export const maxStreams = { free: 2, pro: 5, business: 20, enterprise: 100 } as const satisfies Record<
  Plan,
  number
>;

export const planNames = Object.keys(plans) as Plan[];

/** How many webhooks a workspace may have, by the plan of the key that adds one. */
export const maxWebhooks = { free: 2, pro: 10, business: 50, enterprise: 100 } as const satisfies Record<
  Plan,
  number
>;
