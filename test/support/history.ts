import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { TArray, TObject } from 'typebox';
import { operations } from '../../src/api/operations.ts';
import { type Event as AnyEvent, events } from '../../src/store/events/schema.ts';
import type { EventType } from '../../src/store/webhooks/schema.ts';
import type { JsonAnswer } from './petstore.ts';

/** A resource as a GET returns it. */
export type State = Record<string, unknown>;

/** The lists of a workspace: each resource by its path, such as `/pets/1`. */
export type Lists = Map<string, State>;

/** An event as a caller sees it. Its type determines its data. */
export interface Event extends Pick<AnyEvent, 'id' | 'type' | 'timestamp' | 'requestId'> {
  data: State;
  previous?: State;
}

/** The part of an event that follows from the change to a resource. */
export type Change = Pick<Event, 'type' | 'data' | 'previous'>;

const markers: readonly EventType[] = ['workspace.reset', 'workspace.seeded'];
/** Whether an event only says that the lists must be read again. */
export const isMarker = ({ type }: Event) => markers.includes(type);

/** Whether a type concerns a resource of the lists. */
export const isOfStore = (type: EventType) => !type.startsWith('webhook.');

/**
 * Every list whose changes are all recorded, from the list of operations: its path, the property that identifies an item, and the types of
 * events about its items.
 */
export const recordedLists = operations.flatMap(({ path, success }) => {
  const items = (success.schema as Partial<TArray<TObject>> | undefined)?.items;
  const types = events.flatMap(({ type, data, change }) => (change && data === items ? [type] : []));
  return types.length > 0 ? [{ path, key: Object.keys(items?.properties ?? {})[0] as string, types }] : [];
});

const changeOfType = (type: EventType) => events.find((event) => event.type === type)?.change;

/** The path of the changed resource. */
export function pathOf({ type, data }: Pick<Change, 'type' | 'data'>): string {
  const list = recordedLists.find(({ types }) => types.includes(type));
  assert.ok(list, `${type} is about no resource`);
  return `${list.path}/${data[list.key]}`;
}

type Get = (path: string) => Promise<JsonAnswer>;

/** The current lists of a workspace, read by `get`. */
export async function readLists(get: Get): Promise<Lists> {
  const lists: Lists = new Map();
  for (const { path, key } of recordedLists)
    for (const state of await readPages<State>(get, `${path}?limit=100`))
      lists.set(`${path}/${state[key]}`, state);
  return lists;
}

/** The events after an id, read by `get`. */
export const readEvents = (get: Get, after = 0) =>
  readPages<Event>(get, `/store/events?limit=100&after=${after}`);

/** The items of all pages of a list of the API or of the lab. */
export async function readPages<Item>(get: Get, first: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let path: string | undefined = first; path; ) {
    const { status, text, body, headers }: JsonAnswer = await get(path);
    assert.equal(status, 200, text);
    items.push(...body);
    path = /<https?:\/\/[^/]+(?:\/v1)?([^>]+)>; rel="next"/.exec(headers.link ?? '')?.[1];
  }
  return items;
}

/**
 * The lists of a client that follows the history. It starts with an empty workspace or with the current lists,
 * and does so again after a marker.
 */
export class Follower {
  /** Undefined after a marker, until the lists are read again. */
  lists: Lists | undefined;
  /** The id of the last event. */
  position: number;

  constructor(lists: Lists = new Map(), position = 0) {
    this.lists = new Map(lists);
    this.position = position;
  }

  /** Checks an event against the current state, and applies it. */
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

/** Applies a change, after checking that `lists` match its state before. */
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

const isFirst = (type: EventType) => changeOfType(type) === 'created';
export const isLast = (type: EventType) => changeOfType(type) === 'deleted';

/**
 * Applies a change to any state of `lists`. A client does this after it read the lists while others write: then it may get
 * events of changes that it has already read.
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

/** The inventory entry that is created with a pet. */
const newItemOf = ({ id, status }: State): State => ({
  petId: id,
  quantity: status === 'sold' ? 0 : 1,
  status,
});

/** A resource before an update: with the values of `previous`, where null means absent. */
function before(data: State, previous: State, what: string): State {
  const names = Object.keys(previous);
  assert.ok(names.length > 0, `${what}: something changed`);
  for (const name of names)
    assert.notDeepEqual(data[name] ?? null, previous[name], `${what}: ${name} changed`);
  const all = Object.entries({ ...data, ...previous });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

/**
 * The events for the difference between the lists before and after one request. Events of an order come before those of its
 * pet, and those of the requested resource before their consequences.
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
  const [, list, id] = /^(.*)\/(\d+)$/.exec(path) ?? [];
  const types = recordedLists.find(({ path }) => path === list)?.types ?? [];
  const typeOf = (change: ReturnType<typeof changeOfType>) =>
    types.find((type) => changeOfType(type) === change) as EventType;
  if (was && is) {
    return is.complete && !was.complete
      ? { type: 'order.completed', data: is }
      : { type: typeOf('updated'), data: is, previous: differences(was, is) };
  }
  if (list === '/inventory') {
    // An inventory entry is created and removed with its pet.
    const pet = `/pets/${id}`;
    assert.deepEqual([before.has(pet), after.has(pet)], [!!was, !!is], `${path} goes with its pet`);
    if (is) assert.deepEqual(is, newItemOf(after.get(pet) as State));
    return undefined;
  }
  return is ? { type: typeOf('created'), data: is } : { type: typeOf('deleted'), data: was as State };
}

/** The properties of `was` that differ in `is`, with null for missing ones. */
function differences(was: State, is: State): State {
  const names = Object.keys({ ...was, ...is }).filter((name) => was[name] !== is[name]);
  return Object.fromEntries(names.map((name) => [name, was[name] ?? null]));
}

/** Of concurrent requests, the successful ones have events, and no others. */
export function assertEventsOf(answers: JsonAnswer[], events: Event[]): void {
  const byRequest = Map.groupBy(events, ({ requestId }) => requestId);
  for (const { status, headers, text } of answers) {
    const own = byRequest.get(headers['x-request-id']) ?? [];
    byRequest.delete(headers['x-request-id']);
    if (status >= 400 || headers['idempotency-replayed']) assert.deepEqual(own, [], text);
    else if (status === 201) assert.equal(`${JSON.stringify(own[0]?.data)}\n`, text);
  }
  assert.deepEqual([...byRequest.keys()], []);
}
