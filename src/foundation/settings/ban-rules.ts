import { dayMs, hourMs, minuteMs } from '../time.ts';

/** When a caller is banned, and for how long. */
export interface BanRules {
  /** Strikes allowed per minute, as a multiple of the plan's requests per minute. */
  strikesFactor: number;
  /** Length of the first ban. */
  firstMs: number;
  longestMs: number;
  /** The factor by which each further ban is longer. */
  growth: number;
  /** Within this time after the start of a ban, the next ban is longer. */
  memoryMs: number;
}

export const defaultBanRules: BanRules = {
  strikesFactor: 1,
  firstMs: minuteMs,
  longestMs: hourMs,
  growth: 2,
  memoryMs: dayMs,
};

/** The minimum number of strikes allowed per minute. */
export const minStrikes = 10;
