import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Event as AnyEvent } from '../../src/events/schema.ts';
import type { EventType } from '../../src/history/types.ts';
import type { JsonAnswer } from './petstore.ts';

/** A resource as a GET answers it. */
export type State = Record<string, unknown>;

/** What the lists of a workspace show: each resource by its path, such as `/pets/1`. */
export type Lists = Map<string, State>;

/** An event as a caller sees it; its type says what its data is. */
export interface Event extends Pick<AnyEvent, 'id' | 'type' | 'timestamp' | 'requestId'> {
  data: State;
  previous?: State;
}

/** What a change of a resource is told as. */
export type Change = Pick<Event, 'type' | 'data' | 'previous'>;

const markers: readonly EventType[] = ['workspace.reset', 'workspace.seeded'];
/** Whether an event says no more than that the lists are to be read anew. */
export const isMarker = ({ type }: Event) => markers.includes(type);

/** Whether a type is about what the lists show. */
export const isOfStore = (type: EventType) => !type.startsWith('webhook.');

const pathsBySubject: Record<string, (data: State) => string> = {
  category: ({ id }) => `/categories/${id}`,
  pet: ({ id }) => `/pets/${id}`,
  inventory: ({ petId }) => `/inventory/${petId}`,
  order: ({ id }) => `/store/orders/${id}`,
};

/** The path of the resource that a change is about. */
export function pathOf({ type, data }: Pick<Change, 'type' | 'data'>): string {
  const path = pathsBySubject[type.split('.')[0] as string];
  assert.ok(path, `${type} is about no resource`);
  return path(data);
}

type Get = (path: string) => Promise<JsonAnswer>;

/** What the lists of a workspace show to who asks by `get`. */
export async function readLists(get: Get): Promise<Lists> {
  const lists: Lists = new Map();
  for (const path of ['/categories', '/pets', '/inventory', '/store/orders'])
    for (const state of await readPages<State>(get, `${path}?limit=100`))
      lists.set(`${path}/${state.id ?? state.petId}`, state);
  return lists;
}

/** The events after an id to who asks by `get`. */
export const readEvents = (get: Get, after = 0) =>
  readPages<Event>(get, `/store/events?limit=100&after=${after}`);

/** What all pages of a list hold together. */
async function readPages<Item>(get: Get, first: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let path: string | undefined = first; path; ) {
    const { status, text, body, headers }: JsonAnswer = await get(path);
    assert.equal(status, 200, text);
    items.push(...body);
    path = /\/v1(\S+)>; rel="next"/.exec(headers.link ?? '')?.[1];
  }
  return items;
}

/**
 * The lists as a client has them that follows the history: it begins with an empty workspace or with what the lists show,
 * and so it does after a marker.
 */
export class Follower {
  /** Undefined after a marker, until somebody has looked. */
  lists: Lists | undefined;
  /** The id of the last event. */
  position: number;

  constructor(lists: Lists = new Map(), position = 0) {
    this.lists = new Map(lists);
    this.position = position;
  }

  /** Holds an event against what is known until then, and applies it. */
  follow(event: Event): void {
    const what = JSON.stringify(event);
    assert.equal(event.id, ++this.position, `${what}: ids are 1, 2, 3 and so on`);
    assert.equal(new Date(event.timestamp).toISOString(), event.timestamp, `${what}: the time is in UTC`);
    if (isMarker(event)) {
      this.lists = undefined;
      return;
    }
    if (!isOfStore(event.type)) return;
    assert.match(event.requestId ?? '', /^[!-~]{1,128}$/, `${what}: a request caused it`);
    assert.ok(this.lists, `${what}: the lists before it are known`);
    apply(event, this.lists, what);
  }
}

/** What a whole history leads to. `listsAt` has what the lists showed after a marker, by its id. */
export function fold(events: Event[], listsAt: ReadonlyMap<number, Lists> = new Map()): Lists | undefined {
  const follower = new Follower();
  for (const event of events) {
    follower.follow(event);
    const seen = listsAt.get(event.id);
    if (seen) follower.lists = new Map(seen);
  }
  return follower.lists;
}

/** Applies what one change tells, once `lists` are what it says of the time before. */
function apply(change: Change, lists: Lists, what: string): void {
  const { type, data, previous } = change;
  const current = lists.get(pathOf(change));
  if (isFirst(type)) {
    assert.equal(current, undefined, `${what}: it is new`);
  } else if (isLast(type)) {
    assert.deepEqual(current, data, `${what}: it was so`);
  } else if (type === 'order.completed') {
    assert.deepEqual([current?.complete, data.complete], [false, true], `${what}: it was open`);
    assert.equal(current?.petId, data.petId, what);
  } else {
    assert.match(type, /\.updated$/, `${what}: the type is known`);
    assert.deepEqual(current, before(data, previous as State, what), `${what}: it was so`);
  }
  assert.equal(previous !== undefined, type.endsWith('.updated'), `${what}: an update has what was before`);
  applyAnyway(change, lists);
}

const isFirst = (type: EventType) => /\.(created|placed)$/.test(type);
const isLast = (type: EventType) => /\.(deleted|cancelled)$/.test(type);

/**
 * Applies what one change tells to whatever was before: as a client does that has read the lists while others write, and
 * then learns of changes that it may have seen already.
 */
export function applyAnyway(change: Change, lists: Lists): void {
  const { type, data } = change;
  const path = pathOf(change);
  const item = `/inventory/${data.id}`;
  if (isLast(type)) lists.delete(path);
  else lists.set(path, data);
  if (type === 'pet.created') lists.set(item, newItemOf(data));
  if (type === 'pet.deleted') lists.delete(item);
}

/** The inventory entry that comes with a pet. */
const newItemOf = ({ id, status }: State): State => ({
  petId: id,
  quantity: status === 'sold' ? 0 : 1,
  status,
});

/** A resource as it was before an update: `previous` in its place, where null means absent. */
function before(data: State, previous: State, what: string): State {
  const names = Object.keys(previous);
  assert.ok(names.length > 0, `${what}: something changed`);
  for (const name of names)
    assert.notDeepEqual(data[name] ?? null, previous[name], `${what}: ${name} changed`);
  const all = Object.entries({ ...data, ...previous });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

/**
 * The events that tell the difference between what lists showed before and after one request. Those of an order come before
 * those of its pet, and the resource that a request is for before what follows from it.
 */
export function changesBetween(before: Lists, after: Lists, isForPet: boolean): Change[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  const changes = paths.flatMap((path) => changeOf(path, before, after) ?? []);
  const order = ['category', 'order', ...(isForPet ? ['pet', 'inventory'] : ['inventory', 'pet'])];
  const placeOf = ({ type }: Change) => order.indexOf(type.split('.')[0] as string);
  return changes.sort((a, b) => placeOf(a) - placeOf(b));
}

function changeOf(path: string, before: Lists, after: Lists): Change | undefined {
  const [was, is] = [before.get(path), after.get(path)];
  if (isDeepStrictEqual(was, is)) return undefined;
  const [, subject = '', petId] = /^\/(?:store\/)?(\w+)\/(\d+)$/.exec(path) ?? [];
  const [created, updated, deleted] = typesBySubject[subject] as (typeof typesBySubject)[string];
  if (was && is) {
    return is.complete && !was.complete
      ? { type: 'order.completed', data: is }
      : { type: updated, data: is, previous: differences(was, is) };
  }
  if (subject === 'inventory') {
    const pet = `/pets/${petId}`;
    assert.deepEqual([before.has(pet), after.has(pet)], [!!was, !!is], `${path} goes with its pet`);
    if (is) assert.deepEqual(is, newItemOf(after.get(pet) as State));
    return undefined;
  }
  return is ? { type: created, data: is } : { type: deleted, data: was as State };
}

/** How the beginning, the change and the end of a resource are told. An inventory entry begins and ends with its pet. */
const typesBySubject: Record<string, [created: EventType, updated: EventType, deleted: EventType]> = {
  categories: ['category.created', 'category.updated', 'category.deleted'],
  pets: ['pet.created', 'pet.updated', 'pet.deleted'],
  inventory: ['inventory.updated', 'inventory.updated', 'inventory.updated'],
  orders: ['order.placed', 'order.updated', 'order.cancelled'],
};

/** The fields of `was` that are others in `is`, with null for those that it had not. */
function differences(was: State, is: State): State {
  const names = Object.keys({ ...was, ...is }).filter((name) => was[name] !== is[name]);
  return Object.fromEntries(names.map((name) => [name, was[name] ?? null]));
}

/** Of requests that were sent side by side, those that were answered with success are told of, and no others. */
export function assertToldOf(answers: JsonAnswer[], events: Event[]): void {
  const byRequest = Map.groupBy(events, ({ requestId }) => requestId);
  for (const { status, headers, text } of answers) {
    const own = byRequest.get(headers['x-request-id']) ?? [];
    byRequest.delete(headers['x-request-id']);
    if (status >= 400 || headers['idempotency-replayed']) assert.deepEqual(own, [], text);
    else if (status === 201) assert.equal(`${JSON.stringify(own[0]?.data)}\n`, text);
  }
  assert.deepEqual([...byRequest.keys()], []);
}
