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
  fold,
  isLast,
  type Lists,
  pathOf,
  readEvents,
  readLists,
} from './history.ts';
import { type HistoryStep, type Request, steps } from './history-steps.ts';
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
  const proof = new HistoryProof(store, workspaceId, key);
  try {
    for (const step of steps) await proof.take(step);
    return proof.events;
  } finally {
    await store.change((sql) => deleteWorkspace(sql, workspaceId), workspaceId);
  }
}

class HistoryProof {
  readonly #store: Petstore;
  readonly #workspaceId: number;
  readonly #key: string;
  readonly #listsAt = new Map<number, Lists>();
  events: Event[] = [];
  #lists: Lists = new Map();

  constructor(store: Petstore, workspaceId: number, key: string) {
    this.#store = store;
    this.#workspaceId = workspaceId;
    this.#key = key;
  }

  async take(step: HistoryStep): Promise<void> {
    this.#store.nowMs += 1;
    const before = this.#lists;
    const answers = 'requests' in step ? await Promise.all(step.requests.map(this.#send)) : [];
    if ('command' in step) await this.#command(step.command);
    this.events = await readEvents(this.#get);
    this.#lists = await readLists(this.#get);
    const made = this.events.filter(({ timestamp }) => Date.parse(timestamp) === this.#store.nowMs);
    if ('command' in step) this.#assertMarked(step.command, made);
    else if (answers.length > 1) assertEventsOf(answers, made);
    else await this.#assertDelivered(step.requests[0] as Request, answers[0] as JsonAnswer, before, made);
    assert.deepEqual(fold(this.events, this.#listsAt), this.#lists);
  }

  #get = (path: string) => this.#store.call('GET', path, { key: this.#key });

  #send = async ({
    method,
    path: list,
    nth,
    body,
    idempotencyKey,
    ifMatch,
  }: Request): Promise<JsonAnswer> => {
    const path = nth === undefined ? list : this.#resource(list, nth);
    const current = ifMatch === 'current' ? (await this.#get(path)).headers.etag : '"other"';
    const headers = {
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      ...(ifMatch && { 'if-match': current ?? '*' }),
    };
    return this.#store.call(method, path, { key: this.#key, body, headers });
  };

  /** The nth resource of a list, and sometimes one that does not exist. */
  #resource(list: string, nth: number): string {
    const paths = [...this.#lists.keys()].filter((path) => path.startsWith(list));
    return [...paths, `${list}/4711`][nth % (paths.length + 1)] as string;
  }

  /** Like the commands of that name. */
  async #command(command: 'reset' | 'clear' | 'add pets'): Promise<void> {
    const { db, nowMs } = this.#store;
    if (command === 'add pets') {
      await addPets(db, this.#workspaceId, 3, { atMs: nowMs, workspaceId: this.#workspaceId }, () => {});
    } else {
      await this.#store.change(async (sql) => {
        await clearWorkspace(sql, this.#workspaceId);
        if (command === 'reset') await seedWorkspace(sql, this.#workspaceId);
      }, this.#workspaceId);
    }
  }

  /** One event covers many rows: the client must read the lists again. */
  #assertMarked(command: string, made: Event[]): void {
    const types = made.map(({ type }) => type);
    if (command === 'add pets') assert.deepEqual(types, ['workspace.seeded']);
    else assert.deepEqual(types, ['workspace.reset', ...(command === 'reset' ? ['workspace.seeded'] : [])]);
    for (const { data, requestId } of made) assert.deepEqual([data, requestId], [{}, undefined]);
    this.#listsAt.set(this.events.length, this.#lists);
  }

  /** A request records one event for each GET response that it changed, and nothing else. */
  async #assertDelivered(
    { method, path }: Request,
    answer: JsonAnswer,
    before: Lists,
    made: Event[],
  ): Promise<void> {
    const what = `${method} ${path} -> ${answer.status} ${answer.text}`;
    const expected = changesBetween(before, this.#lists, path.startsWith('/pets'));
    const recorded = made.map(({ id, timestamp, requestId, ...change }): Change => {
      assert.equal(requestId, answer.headers['x-request-id'], what);
      return change;
    });
    assert.deepEqual(recorded, expected, what);
    if (answer.status >= 400 || answer.headers['idempotency-replayed']) assert.deepEqual(recorded, [], what);
    for (const change of recorded) {
      const { status, text } = await this.#get(pathOf(change));
      if (isLast(change.type)) assert.equal(status, 404, what);
      else assert.equal(`${JSON.stringify(change.data)}\n`, text, what);
    }
  }
}
