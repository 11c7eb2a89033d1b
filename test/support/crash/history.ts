import assert from 'node:assert/strict';
import { type Change, changesBetween, type Event, type Lists, pathOf } from '../history.ts';
import type { Write } from './write.ts';

/** What the history must tell of the writes of a round, by the X-Request-Id of each. */
export class ExpectedHistory {
  readonly #writes = new Map<string, { changes: Change[]; paths: Set<string> | undefined }>();

  /** The write made this of the resources that are its own; what it made of others is not known. */
  expect({ requestId, path }: Write, before: Lists, after: Lists): void {
    const changes = changesBetween(before, after, path.startsWith('/pets'));
    this.#writes.set(requestId as string, { changes, paths: new Set([...before.keys(), ...after.keys()]) });
  }

  /** The write made nothing of any resource. */
  expectNone(requestId: string): void {
    this.#writes.set(requestId, { changes: [], paths: undefined });
  }

  /** Holds the events of the round against what was expected, and forgets that. */
  assertTold(events: Event[]): void {
    const byRequest = Map.groupBy(events, ({ requestId }) => requestId);
    for (const [requestId, { changes, paths }] of this.#writes) {
      const all = byRequest.get(requestId) ?? [];
      const own = all.filter((event) => paths?.has(pathOf(event)) ?? true);
      assert.deepEqual(
        own.map(({ type, data, previous }) => ({ type, data, ...(previous && { previous }) })),
        changes,
        `what the history tells of ${requestId}`,
      );
    }
    for (const requestId of byRequest.keys())
      assert.ok(this.#writes.has(requestId as string), `nobody has sent ${requestId}`);
    this.#writes.clear();
  }
}
