import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonAnswer } from './petstore.ts';

/** The remaining requests of the binding window, from a response. */
export const remaining = ({ headers }: JsonAnswer) => Number(headers['x-ratelimit-remaining']);

/** The results of `act`, called `count` times, one after the other. */
export async function times<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < count; i++) results.push(await act());
  return results;
}

/** Waits for the next minute if this one has less than `neededMs` left. */
export async function roomInMinute(neededMs: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < neededMs) await sleep(leftMs + 50);
}
