import { randomInt } from 'node:crypto';
import { type Event, type Int64, type Petstore, writeExactly } from '../../client/index.ts';
import { withService } from '../../service/start/running-service.ts';
import type { GradingService } from '../grading-service.ts';

/** A message in the form in which the service sends it. */
export interface TrialMessage {
  /** `webhook-id`: the same in every attempt. */
  id: string;
  type: string;
  body: string;
}

type EventType = Event['type'];

/** A kind of resource whose events grade a receiver. */
export interface Subject {
  noun: string;
  /** The types of its events. Each check needs some of them. */
  types: { added: EventType; changed?: EventType; removed?: EventType };
  /** Whether its events have a name that a change replaces. */
  hasNames?: true;
  /** Makes one, with the changes that make its events. `names`: its first name, and one for each change. */
  make(store: Petstore, names: readonly string[], categoryId: Int64): Promise<Int64>;
}

export type Role = keyof Subject['types'];

const makePet: Subject['make'] = async (store, [name = '', ...newNames], categoryId) => {
  const { id } = await store.createPet({ name, categoryId });
  for (const newName of newNames) await store.updatePet(id, { name: newName });
  await store.deletePet(id);
  return id;
};

const makeCategory: Subject['make'] = async (store, [name = '', ...newNames]) => {
  const { id } = await store.createCategory({ name });
  for (const newName of newNames) await store.replaceCategory(id, { name: newName });
  await store.deleteCategory(id);
  return id;
};

/** `ends`: cancels the order, or completes it. */
const makeOrder =
  (ends: (store: Petstore, id: Int64) => Promise<unknown>): Subject['make'] =>
  async (store, names, categoryId) => {
    const pet = await store.createPet({ name: 'Rover', categoryId });
    await store.updateInventory(pet.id, { quantity: 99 });
    const { id } = await store.placeOrder({ petId: pet.id, quantity: 1 });
    for (let quantity = 2; quantity <= names.length; quantity++) await store.updateOrder(id, { quantity });
    await ends(store, id);
    return id;
  };

/** A receiver is graded by the first of these whose new resources it handles, or else that it handles at all. */
const subjects: readonly Subject[] = [
  {
    ...{ noun: 'pet', hasNames: true, make: makePet },
    types: { added: 'pet.created', changed: 'pet.updated', removed: 'pet.deleted' },
  },
  {
    ...{ noun: 'category', hasNames: true, make: makeCategory },
    types: { added: 'category.created', changed: 'category.updated', removed: 'category.deleted' },
  },
  {
    ...{ noun: 'order', make: makeOrder((store, id) => store.cancelOrder(id)) },
    types: { added: 'order.placed', changed: 'order.updated', removed: 'order.cancelled' },
  },
  {
    ...{ noun: 'order', make: makeOrder((store, id) => store.updateOrder(id, { complete: true })) },
    types: { added: 'order.completed' },
  },
  {
    noun: 'stock',
    make: async (store, [name = ''], categoryId) => {
      const { id } = await store.createPet({ name, categoryId });
      await store.updateInventory(id, { quantity: 5 });
      return id;
    },
    types: { added: 'inventory.updated' },
  },
];

/** What grades a receiver: a kind of resource, and the type of most messages. Undefined if it handles none of these types. */
export function subjectFor(
  handles: (type: string) => boolean,
): { subject: Subject; main: EventType } | undefined {
  const found = subjects.flatMap((subject) => {
    // A removal alone is about things that the receiver never knew.
    const main = gradingTypesOf(subject).find(handles);
    return main ? [{ subject, main }] : [];
  });
  return found.find(({ subject, main }) => main === subject.types.added) ?? found[0];
}

const gradingTypesOf = ({ types: { added, changed } }: Subject) => [added, ...(changed ? [changed] : [])];

/** The types of which a receiver must handle one. */
export const gradedTypes = subjects.flatMap(gradingTypesOf);

/** The messages that grade a receiver, by name. */
export type Messages = ReturnType<typeof fromHistory>;

/** Makes the messages from the history of a new workspace. So they have the form of real ones. */
export const makeMessages = (store: GradingService, subject: Subject, main: EventType, signal: AbortSignal) =>
  store.inWorkspace((access) =>
    withService({ ...access, signal }, async ({ store: api }) =>
      fromHistory(await historyOf(api, subject), subject, main),
    ),
  );

/** The names of each resource, one after another. No name is a part of another. */
const names = [
  ...['Atlas, Titan', 'Comet, Encke', 'Meteor, Bolide', 'Grüße 🐉 龍, Käfer 🐞 虫', 'Rota, Ceres'],
  ...['Forged, Pallas', 'Late, Juno', 'Groom, Vesta', 'Fields, Hygiea', 'Tide, Ebb'],
  ...['Orion, Lyra, Cetus, Vega', 'Mira, Rigel', 'Sirius, Polaris', 'Altair, Deneb'],
];

interface History {
  events: readonly Event[];
  /** The id of each resource, by its first name. */
  ids: ReadonlyMap<string, number>;
}

async function historyOf(store: Petstore, { types, make }: Subject): Promise<History> {
  const category = await store.createCategory({ name: 'Travellers' });
  const ids = new Map<string, number>();
  for (const line of names) {
    const all = line.split(', ');
    ids.set(all[0] as string, Number(await make(store, all, category.id)));
  }
  return { ids, events: await Array.fromAsync(store.listEvents({ type: Object.values(types) })) };
}

/** The resource of an event. An inventory entry has the id of its pet. */
const idOf = ({ data }: Event) => Number((data as { id?: Int64 }).id ?? (data as { petId?: Int64 }).petId);

function fromHistory({ events, ids }: History, { noun, types, hasNames }: Subject, main: EventType) {
  const { added, changed = added, removed = added } = types;
  // Ids after this one are new to a receiver that was graded before.
  const lastId = randomInt(2 ** 30);
  /** `name` is the first name of the resource. `aheadMs` is how far the clock was ahead. */
  const messageOf = (name: string, type = main, { nth = 0, aheadMs = 0 } = {}): TrialMessage => {
    const all = events.filter((one) => one.type === type && idOf(one) === ids.get(name));
    const event = all[nth] ?? all[0];
    if (!event) throw new Error(`The history lacks ${type} of ${name}.`);
    const id = lastId + Number(event.id);
    const timestamp = new Date(Date.parse(event.timestamp) + aheadMs).toISOString();
    const key = 'id' in event.data ? 'id' : 'petId';
    const data = { ...event.data, [key]: lastId + idOf(event) };
    return { id: `evt_try_${id}`, type, body: writeExactly({ ...event, id, timestamp, data }) };
  };
  const [later, withFields] = [messageOf('Groom'), messageOf('Fields')];
  const exact = messageOf('Orion', changed, { nth: 1 });
  const { data, ...rest } = JSON.parse(withFields.body);
  const ping = { type: 'ping', timestamp: new Date().toISOString(), data: { webhookId: 1 } };
  return {
    ...{ noun, hasNames: hasNames === true },
    ping: { id: 'evt_try_ping', type: 'ping', body: JSON.stringify(ping) },
    // Each is about another resource. The event of the older one has the smallest id.
    older: messageOf('Atlas'),
    first: messageOf('Comet'),
    second: messageOf('Meteor'),
    following: messageOf('Tide'),
    inPieces: messageOf('Grüße 🐉 龍'),
    rotated: messageOf('Rota'),
    forged: messageOf('Forged'),
    old: messageOf('Late'),
    // A resource, its first and its last change. By its timestamp the first one is later.
    created: messageOf('Orion', added),
    firstChange: messageOf('Orion', changed, { aheadMs: 1_000 }),
    lastChange: messageOf('Orion', changed, { nth: 2 }),
    // A new resource, its change and its removal.
    otherCreated: messageOf('Mira', added),
    otherChange: messageOf('Mira', changed),
    otherDeleted: messageOf('Mira', removed),
    // New resources and their changes.
    lateCreated: messageOf('Sirius', added),
    earlyChange: messageOf('Sirius', changed),
    named: messageOf('Altair', added),
    renamed: messageOf('Altair', changed),
    // Another change of it: a late event, so nobody has to store this id. The escaped character is a colon.
    notCanonical: { ...exact, body: notCanonical(exact.body) },
    // Events of a later version.
    unknownType: { ...later, type: 'pet.groomed', body: later.body.replace(main, 'pet.groomed') },
    unknownFields: {
      ...withFields,
      body: JSON.stringify({ ...rest, origin: 'web', data: { ...data, microchip: '968000010203040' } }),
    },
  };
}

const notCanonical = (body: string) =>
  `${body
    .replace(/(?<="timestamp":"[^"]*?):/, '\\u003A')
    .replace(/(?<="(?:categoryId|petId)":)\d+/, String(2n ** 53n + 1n))
    .replace('Cetus', 'Cetus 鯨')}\n`;
