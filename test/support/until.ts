import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Long, since a test's machine may be busy. */
const patienceMs = 60_000;

/** Waits until something holds. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs = patienceMs): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await holds())) {
    assert.ok(performance.now() < endMs, `this never came to hold: ${holds}`);
    await sleep(10);
  }
}
