import assert from 'node:assert/strict';
import fc, { type Arbitrary } from 'fast-check';
import { operations } from '../../src/api/operations.ts';
import type { JsonObject } from '../../src/reference/description/schemas.ts';
import { addPets } from '../../src/store/demo/bulk.ts';
import { seedWorkspace } from '../../src/store/demo/seed.ts';
import type { EventType } from '../../src/store/webhooks/schema.ts';
import { clearWorkspace, deleteWorkspace } from '../../src/store/workspaces/store.ts';
import { description, resolve, writableIn } from './description.ts';
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
  recordedLists,
} from './history.ts';
import type { JsonAnswer, Petstore } from './petstore.ts';

/** A request of a sequence. */
export interface Request {
  method: string;
  /** The path of its list. */
  path: string;
  /** Which resource of the list it uses, by its index among the existing ones. */
  nth?: number;
  body?: object;
  idempotencyKey?: string | undefined;
  ifMatch?: 'current' | 'other' | undefined;
}

/** A command of an operator. */
type Command = 'reset' | 'clear' | 'add pets';

/** A step in a workspace: one or several concurrent requests, or a command. */
type HistoryStep = { requests: Request[] } | { command: Command };

/** Values of a schema. Few, so that a change often changes nothing, and few ids, so that requests concern the same rows. */
function fewValues(reference: JsonObject): Arbitrary<unknown> {
  const { nullable, ...schema } = resolve(reference);
  if (nullable) return fc.oneof({ weight: 3, arbitrary: fewValues(schema) }, fc.constant(null));
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object': {
      const properties = writableIn(schema).map(([name, property]) => [name, fewValues(property)]);
      const requiredKeys = (schema.required ?? []) as string[];
      return fc.record<Record<string, unknown>>(Object.fromEntries(properties), {
        requiredKeys,
        noNullPrototype: true,
      });
    }
    case 'array':
      return fc.array(fewValues(schema.items as JsonObject), { minLength: 1, maxLength: 2 });
    case 'boolean':
      return fc.constantFrom(false, false, true);
    case 'integer': {
      if (schema.format === 'int64') return fc.constantFrom(1, 1, 2, 3);
      const { minimum, maximum } = schema as { minimum: number; maximum: number };
      // At the maximum of the stock, no unit can return.
      return fc.constantFrom(minimum, 1, 2, 3, 3, 2, 1, maximum);
    }
    default:
      // The same instant twice, and another one.
      return schema.format === 'date-time'
        ? fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T01:00:00+01:00', '2026-01-02T00:00:00Z')
        : fc.constantFrom('Ash', 'Birch');
  }
}

const invalid = fc.constantFrom<object>({ quantity: -1 }, { name: '' }, []);

const post = (path: string, body: Arbitrary<object>) =>
  fc.record<Request>({
    method: fc.constant('POST'),
    path: fc.constant(path),
    body,
    idempotencyKey: fc.constantFrom(undefined, undefined, undefined, 'a', 'b'),
  });

const change = (method: string, list: string, body?: Arbitrary<object>) =>
  fc.record<Request>({
    method: fc.constant(method),
    path: fc.constant(list),
    nth: fc.nat(4),
    ...(body && { body: fc.oneof({ weight: 20, arbitrary: body }, invalid) }),
    ifMatch: fc.constantFrom(undefined, undefined, undefined, 'current', 'other'),
  });

/** Requests that need others before them, or have more consequences. */
const weights: Record<string, number> = {
  createPet: 2,
  updatePet: 2,
  updateInventory: 3,
  placeOrder: 6,
  updateOrder: 8,
};

/** Requests that change recorded lists, from the description. */
export const request: Arbitrary<Request> = fc.oneof(
  ...operations.flatMap(({ id, method, path }) => {
    const list = path.replace(/\/{\w+}$/, '');
    if (method === 'GET' || !recordedLists.some((one) => one.path === list)) return [];
    const content = description.paths[path][method.toLowerCase()].requestBody?.content ?? {};
    const [media] = Object.values<{ schema: JsonObject }>(content);
    const body = media && (fewValues(media.schema) as Arbitrary<object>);
    const arbitrary = list === path && body ? post(list, body) : change(method, list, body);
    return [{ weight: weights[id] ?? 1, arbitrary }];
  }),
);

const beginning: Request[] = [
  { method: 'POST', path: '/categories', body: { name: 'Ash' } },
  { method: 'POST', path: '/pets', body: { name: 'Ash', categoryId: 1 } },
  { method: 'POST', path: '/pets', body: { name: 'Birch', categoryId: 1, status: 'sold' } },
  { method: 'PATCH', path: '/inventory', nth: 0, body: { quantity: 9 } },
];

const step: Arbitrary<HistoryStep> = fc.oneof(
  { weight: 30, arbitrary: request.map((request) => ({ requests: [request] })) },
  { weight: 4, arbitrary: fc.record({ requests: fc.array(request, { minLength: 2, maxLength: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ command: fc.constantFrom<Command>('reset', 'clear', 'add pets') }) },
);

/** First a category and pets, without which most requests would be refused. */
const steps: Arbitrary<HistoryStep[]> = fc
  .array(step, { minLength: 1, maxLength: 40, size: 'max' })
  .map((steps) => [...beginning.map((request) => ({ requests: [request] })), ...steps]);

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
