import type { TObject } from 'typebox';
import { events as definitions } from '../../store/events/schema.ts';
import type { EventDefinition } from '../../store/history/event.ts';
import { fieldNameOf, type Item, lists, type OtherChange, type StoreState } from './state.ts';

/** An event of the history, as the API shows it. */
export interface StoreEvent {
  type: string;
  timestamp: string;
  requestId?: string;
  data: Item;
  previous?: Item;
}

/** A committed change of a resource. */
export interface StoreChange {
  atMs: number;
  requestId: string | undefined;
}

/** A value that an update gave to a field. */
export interface Write {
  field: string;
  /** Empty for a reference, because ids differ between runs. */
  value: string;
  /** Whether a request wrote it. If not, it follows from a change of another resource: an order changes the stock of its pet. */
  isOwn: boolean;
  change: StoreChange;
}

/** The changes of a resource during a run. */
export interface ResourceHistory {
  /** The state before the run, or after its creation. */
  first: Item;
  last: Item;
  created?: StoreChange;
  deleted?: StoreChange;
  writes: readonly Write[];
}

/** The final state of a workspace, and the history of its resources during the run. */
export interface StoreResult {
  /** The final content, and the resources that the program created and deleted again. */
  state: StoreState;
  /** By `resourceKey`. */
  histories: ReadonlyMap<string, ResourceHistory>;
  /** Whether the program made any change. */
  hasChanges: boolean;
  /** The changes of the other writer that the fault `conflict` adds. */
  others: readonly OtherChange[];
  /** The number of its events. */
  otherEvents: number;
}

export const resourceKey = (kind: string, id: unknown) => `${kind} ${id}`;

/** How events of a type describe a resource. */
interface Described {
  kind: string;
  change: NonNullable<EventDefinition['change']>;
  keyOf(data: Item): string;
}

const described = new Map(
  definitions.flatMap(({ type, data, change }: EventDefinition): [string, Described][] => {
    const title = (data as TObject & { title?: string }).title?.toLowerCase();
    const list = lists.find(({ kind }) => kind === title);
    if (!list || !change) return [];
    // An inventory entry is a part of its pet.
    const [property] = Object.keys(list.properties) as [string];
    const kind = property === 'id' ? list.kind : property.replace(/Id$/, '');
    return [[type, { kind, change, keyOf: (item) => resourceKey(kind, item[property]) }]];
  }),
);

/** Joins a state and its history. `otherWriter`: the `requestId` of changes that the program did not make. */
export function storeResultOf(
  state: StoreState,
  initial: StoreState | undefined,
  events: readonly StoreEvent[] = [],
  otherWriter?: string,
): StoreResult {
  const histories = historiesOf(initial);
  const others: StoreEvent[] = [];
  for (const [index, event] of events.entries()) {
    // A reset restores the demo data with its ids.
    if (event.type === 'workspace.reset')
      for (const [key, history] of historiesOf(initial)) histories.set(key, history);
    const type = described.get(event.type);
    if (!type) continue;
    const isOthers = otherWriter !== undefined && event.requestId === otherWriter;
    if (isOthers) others.push(event);
    const key = type.keyOf(event.data);
    const isOwn = !isOthers && !isConsequence(event, events[index - 1]);
    histories.set(key, historyAfter(histories.get(key), event, type, isOwn));
  }
  return {
    state: withDeleted(state, histories),
    histories,
    hasChanges: events.some(({ type, requestId }) => described.has(type) && requestId !== otherWriter),
    others: others.flatMap(otherChangesOf),
    otherEvents: others.length,
  };
}

function historiesOf(state: StoreState | undefined): Map<string, ResourceHistory> {
  const items = lists.flatMap(({ kind, name }) =>
    ((state?.[name] ?? []) as Item[]).map((item): [string, ResourceHistory] => [
      resourceKey(kind, item.id),
      { first: item, last: item, writes: [] },
    ]),
  );
  return new Map(items);
}

/** Whether an event is a consequence of the previous one: it is about another resource in the same transaction. */
const isConsequence = (event: StoreEvent, before: StoreEvent | undefined) =>
  before !== undefined &&
  described.has(before.type) &&
  before.requestId === event.requestId &&
  before.timestamp === event.timestamp &&
  before.type.split('.')[0] !== event.type.split('.')[0];

function historyAfter(
  before: ResourceHistory | undefined,
  { timestamp, requestId, data, previous }: StoreEvent,
  { kind, change: what }: Described,
  isOwn: boolean,
): ResourceHistory {
  const change: StoreChange = { atMs: Date.parse(timestamp), requestId };
  if (what === 'created') return { first: data, last: data, created: change, writes: [] };
  const known = before ?? { first: data, last: data, writes: [] };
  if (what === 'deleted') return { ...known, last: data, deleted: change };
  const changed = Object.keys(previous ?? data).filter((name) => previous || data[name] !== known.last[name]);
  const writes = changed.map((property) => ({
    ...{ field: fieldNameOf(kind, property), isOwn, change },
    value: /Id$/.test(property) ? '' : String(data[property] ?? 'none'),
  }));
  return { ...known, last: { ...known.last, ...data }, writes: [...known.writes, ...writes] };
}

/** The state, with the resources that the program created and deleted again. */
function withDeleted(state: StoreState, histories: ReadonlyMap<string, ResourceHistory>): StoreState {
  const entries = lists.map(({ kind, name }) => {
    const deleted = [...histories].flatMap(([key, { created, deleted, last }]) =>
      created && deleted && key === resourceKey(kind, last.id) ? [last] : [],
    );
    return [name, [...(state[name] ?? []), ...deleted]];
  });
  return Object.fromEntries(entries);
}

/** What the other writer changed. A new stock also changes the status of the pet, which is left out. */
function otherChangesOf({ type, data, previous = {} }: StoreEvent): OtherChange[] {
  const { kind } = described.get(type) as Described;
  const written = Object.entries(previous).filter(([property]) => property !== 'status');
  return written.map(([property, before]) => ({
    ...{ kind, id: Number(data.id ?? data.petId), property: fieldNameOf(kind, property) },
    ...{ before: before === null ? undefined : String(before), after: String(data[property]) },
  }));
}
