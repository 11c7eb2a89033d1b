import assert from 'node:assert/strict';
import { type Change, changesBetween, type Event, type Lists, pathOf, type State } from '../history.ts';

export interface Write {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: State;
  idempotencyKey?: string;
  /** X-Request-Id, set when it is sent. */
  requestId?: string;
  /** Errors that other clients may cause. */
  refusals?: string[];
}

/** The number at the end of a path. */
export const idOf = (path: string) => Number(/\d+$/.exec(path)?.[0]);

/** The events that the history must have for the writes of a round, by the X-Request-Id of each. */
export class ExpectedHistory {
  readonly #writes = new Map<string, { changes: Change[]; paths: Set<string> | undefined }>();

  /** The write made these changes to its own resources. Its effects on others are unknown. */
  expect({ requestId, path }: Write, before: Lists, after: Lists): void {
    const changes = changesBetween(before, after, path.startsWith('/pets'));
    this.#writes.set(requestId as string, { changes, paths: new Set([...before.keys(), ...after.keys()]) });
  }

  /** The write changed nothing. */
  expectNone(requestId: string): void {
    this.#writes.set(requestId, { changes: [], paths: undefined });
  }

  /** Compares the events of the round with the expected ones, and clears these. */
  assertDelivered(events: Event[]): void {
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
