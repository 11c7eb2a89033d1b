import assert from 'node:assert/strict';
import fc from 'fast-check';
import { addPets } from '../../src/store/demo/bulk.ts';
import { seedWorkspace } from '../../src/store/demo/seed.ts';
import type { EventType } from '../../src/store/webhooks/schema.ts';
import { clearWorkspace, deleteWorkspace } from '../../src/store/workspaces/store.ts';
import {
  assertEventsOf,
  type Change,
  changesBetween,
  type Event,
  Follower,
  isLast,
  type Lists,
  pathOf,
  readEvents,
  readLists,
} from './history.ts';
import { type Command, type HistoryStep, type Request, steps } from './history-steps.ts';
import type { JsonAnswer, Petstore } from './petstore.ts';

let workspaces = 0;

/** Checks `histories` random sequences of steps, and counts their events by type. */
export async function proveHistories(
  store: Petstore,
  histories: number,
  seed: number,
): Promise<Map<EventType, number>> {
  const counts = new Map<EventType, number>();
  const property = fc.asyncProperty(steps, async (steps) => {
    for (const { type } of await proveHistory(store, steps)) counts.set(type, (counts.get(type) ?? 0) + 1);
  });
  await fc.assert(property, { numRuns: histories, seed });
  return counts;
}

/**
 * Runs the steps in a new workspace, and after each compares its history with every GET response. Returns the
 * history.
 */
async function proveHistory(store: Petstore, steps: HistoryStep[]): Promise<Event[]> {
  const { key, workspaceId } = await store.addWorkspace(`history-${++workspaces}`, false);
  const listsAt = new Map<number, Lists>();
  let events: Event[] = [];
  let lists: Lists = new Map();
  try {
    for (const step of steps) await take(step);
    return events;
  } finally {
    await store.change((sql) => deleteWorkspace(sql, workspaceId), workspaceId);
  }

  async function take(step: HistoryStep): Promise<void> {
    store.nowMs += 1;
    const before = lists;
    const answers = 'requests' in step ? await Promise.all(step.requests.map(send)) : [];
    if ('command' in step) await perform(step.command);
    events = await readEvents(get);
    lists = await readLists(get);
    const made = events.filter(({ timestamp }) => Date.parse(timestamp) === store.nowMs);
    if ('command' in step) assertMarked(step.command, made);
    else if (answers.length > 1) assertEventsOf(answers, made);
    else await assertDelivered(step.requests[0] as Request, answers[0] as JsonAnswer, before, made);
    assert.deepEqual(fold(events, listsAt), lists);
  }

  function get(path: string) {
    return store.call('GET', path, { key });
  }

  async function send({ method, path: list, nth, body, idempotencyKey, ifMatch }: Request) {
    const path = nth === undefined ? list : resource(list, nth);
    const current = ifMatch === 'current' ? (await get(path)).headers.etag : '"other"';
    const headers = {
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      ...(ifMatch && { 'if-match': current ?? '*' }),
    };
    return store.call(method, path, { key, body, headers });
  }

  /** The nth resource of a list, and sometimes one that does not exist. */
  function resource(list: string, nth: number): string {
    const paths = [...lists.keys()].filter((path) => path.startsWith(list));
    return [...paths, `${list}/4711`][nth % (paths.length + 1)] as string;
  }

  /** Like the commands of that name. */
  async function perform(command: Command): Promise<void> {
    if (command === 'add pets') {
      await addPets(store.db, workspaceId, 3, { atMs: store.nowMs, workspaceId }, () => {});
      return;
    }
    await store.change(async (sql) => {
      await clearWorkspace(sql, workspaceId);
      if (command === 'reset') await seedWorkspace(sql, workspaceId);
    }, workspaceId);
  }

  /** One event covers many rows: the client must read the lists again. */
  function assertMarked(command: Command, made: Event[]): void {
    const types = {
      'add pets': ['workspace.seeded'],
      reset: ['workspace.reset', 'workspace.seeded'],
      clear: ['workspace.reset'],
    }[command];
    assert.deepEqual(
      made.map(({ type, data, requestId }) => ({ type, data, requestId })),
      types.map((type) => ({ type, data: {}, requestId: undefined })),
    );
    listsAt.set(events.length, lists);
  }

  /** A request records one event for each GET response that it changed, and nothing else. */
  async function assertDelivered(
    { method, path }: Request,
    answer: JsonAnswer,
    before: Lists,
    made: Event[],
  ): Promise<void> {
    const what = `${method} ${path} -> ${answer.status} ${answer.text}`;
    const expected = changesBetween(before, lists, path.startsWith('/pets'));
    const recorded = made.map(({ id, timestamp, requestId, ...change }): Change => {
      assert.equal(requestId, answer.headers['x-request-id'], what);
      return change;
    });
    assert.deepEqual(recorded, expected, what);
    if (answer.status >= 400 || answer.headers['idempotency-replayed']) assert.deepEqual(recorded, [], what);
    for (const change of recorded) {
      const { status, text } = await get(pathOf(change));
      if (isLast(change.type)) assert.equal(status, 404, what);
      else assert.equal(`${JSON.stringify(change.data)}\n`, text, what);
    }
  }
}

/** The result of a whole history. `listsAt` has the lists after a marker, by its id. */
function fold(events: Event[], listsAt: ReadonlyMap<number, Lists>): Lists | undefined {
  const follower = new Follower();
  for (const event of events) {
    follower.follow(event);
    const seen = listsAt.get(event.id);
    if (seen) follower.lists = new Map(seen);
  }
  return follower.lists;
}
