import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, Follower, type Lists, readEvents } from '../history.ts';
import { fetchChecked, type JsonAnswer } from '../petstore.ts';
import type { Service } from '../service.ts';
import { Reader as Stream } from '../streams.ts';
import { until } from '../until.ts';
import { onlyKilled } from './client.ts';

export type HistoryReader = ReturnType<typeof startPolling>;

/** What a reader knows from the history alone. `seeded` are the lists after the only marker. */
function startFollowing(seeded: Lists) {
  const follower = new Follower();
  const events: Event[] = [];
  const see = (event: Event) => {
    follower.follow(event);
    if (event.type === 'workspace.seeded') follower.lists = new Map(seeded);
    events.push(event);
  };
  return { follower, events, see };
}

/** Requests the events after the last received one, again and again. Each kill disconnects it, and it continues at its position. */
export function startPolling(key: string, seeded: Lists) {
  const { follower, events, see } = startFollowing(seeded);
  const readPage = async (service: Service): Promise<number> => {
    const path = `/store/events?limit=100&after=${follower.position}`;
    const { body } = await get(service, key, path);
    for (const event of body) see(event);
    return body.length;
  };
  return {
    ...{ follower, events },
    async readUntilKilled(service: Service): Promise<void> {
      for (;;) {
        const count = await readPage(service).catch((error) => onlyKilled(service, error));
        if (count === undefined) return;
        if (count === 0) await sleep(5);
      }
    },
    /** Continues until it has received the event `lastId`. */
    async readUpTo(service: Service, lastId: number): Promise<void> {
      while (follower.position < lastId) await readPage(service);
    },
  };
}

/** Keeps a stream open, and opens the next one after the last received event. */
export function startStreaming(key: string, seeded: Lists): HistoryReader {
  const { follower, events, see } = startFollowing(seeded);
  const open = ({ origin }: Service) =>
    new Stream(origin, { key, headers: { 'last-event-id': String(follower.position) } });
  const take = ({ status, text, events }: Stream) => {
    assert.ok(status === 200 || text === '', `${status} ${text}`);
    for (const event of events) see(event);
  };
  return {
    ...{ follower, events },
    async readUntilKilled(service) {
      const stream = open(service);
      await stream.untilEnded();
      assert.ok(service.child.killed, 'a stream lasts as long as the service');
      take(stream);
    },
    async readUpTo(service, lastId) {
      if (follower.position === lastId) return;
      const stream = open(service);
      await until(() => (stream.place ?? 0) >= lastId || stream.ended !== 'no');
      stream.cut();
      take(stream);
    },
  };
}

/** The events after an id, for a reader that starts now. */
export const readAnew = (service: Service, key: string, after: number) =>
  readEvents((path) => get(service, key, path), after);

async function get({ origin }: Service, key: string, path: string): Promise<JsonAnswer> {
  const answer = await fetchChecked(origin, 'GET', path, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}
