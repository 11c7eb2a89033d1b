import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonAnswer } from './petstore.ts';

/** What an answer says is left of the binding window. */
export const remaining = ({ headers }: JsonAnswer) => Number(headers['x-ratelimit-remaining']);

/** What `act` answers, asked `count` times, one after the other. */
export async function times<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < count; i++) results.push(await act());
  return results;
}

/** Waits for the next minute if less than `neededMs` are left of this one. */
export async function roomInMinute(neededMs: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < neededMs) await sleep(leftMs + 50);
}
