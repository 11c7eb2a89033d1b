import { setImmediate as nextTurn } from 'node:timers/promises';

/** So long others wait for their turn. */
const turnMs = 10;

/** Goes through items, and lets others have their turn in between. */
export async function* inTurns<T>(items: Iterable<T>): AsyncGenerator<T> {
  let sinceMs = performance.now();
  for (const item of items) {
    yield item;
    if (performance.now() - sinceMs < turnMs) continue;
    await nextTurn();
    sinceMs = performance.now();
  }
}
