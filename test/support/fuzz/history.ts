import type { Change, Event } from '../history.ts';
import type { Call, Expected } from './model.ts';

/** The number of events that a page scans. */
const maxLookedAt = 1_000;
const defaultLimit = 20;

/** The expected history of a workspace, and its responses. */
export class HistoryModel {
  readonly events: Event[] = [];
  /** The id of the oldest kept event, or of the next one if none is kept. */
  #first = 1;

  get kept(): Event[] {
    return this.events.slice(this.#first - 1);
  }

  /** Removes all but the last `count` events. */
  keep(count: number): void {
    this.#first = Math.max(this.#first, this.events.length - count + 1);
  }

  add(changes: Change[], cause: Pick<Event, 'timestamp' | 'requestId'>): void {
    for (const { type, ...what } of changes)
      this.events.push({ id: this.events.length + 1, type, ...cause, ...what });
  }

  /** The refusal of a position that does not exist yet or is no longer kept. */
  refusalAfter(position: number): Expected | undefined {
    if (position > this.events.length) return { status: 400, code: 'invalid_request' };
    if (position < this.#first - 1) return { status: 410, code: 'events_expired' };
    return undefined;
  }

  /** The beginning of a stream: after the event in the header, or else `after`, or else the last event. */
  follow({ headers, query }: Call): Expected {
    const after = Number(headers['last-event-id'] ?? query.after ?? this.events.length);
    return this.refusalAfter(after) ?? { status: 200, lastEventId: String(after) };
  }

  /** A page of events after a position: the cursor's, or else `after`, or else before the oldest event. */
  list({ query }: Call, afterCursor: number | undefined): Expected {
    const last = this.events.length;
    const after = afterCursor ?? query.after ?? this.#first - 1;
    const refusal = this.refusalAfter(after);
    if (refusal) return refusal;
    const { limit = defaultLimit, type: types } = query;
    const following = this.events
      .slice(after, after + maxLookedAt)
      .filter(({ type }) => types === undefined || types.includes(type));
    const items = following.slice(0, limit);
    const lookedAt =
      following.length > limit ? (items.at(-1) as Event).id : Math.min(after + maxLookedAt, last);
    return {
      status: 200,
      body: items,
      lastEventId: String(lookedAt),
      ...(lookedAt < last && { next: lookedAt }),
    };
  }
}
