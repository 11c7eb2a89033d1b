/** How many requests are admitted in a calendar minute and a calendar day, both in UTC. */
export interface Quota {
  perMinute: number;
  perDay: number;
}

/** The plans and their numbers. Enterprise takes its own from each key. */
export const plans = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: undefined,
} as const satisfies Record<string, Quota | undefined>;

export type Plan = keyof typeof plans;

/** How many streams of events each key of a plan may have open at once. */
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
