import { randomInt } from 'node:crypto';
import { type Event, type Petstore, writeExactly } from '../../client/index.ts';
import { withService } from '../../service/start/running-service.ts';
import type { GradingService } from '../grading-service.ts';

/** A message in the form in which the service sends it. */
export interface TrialMessage {
  /** `webhook-id`: the same in every attempt. */
  id: string;
  type: string;
  body: string;
}

/** The types of events that grade a receiver. */
export const [added, changed, removed] = ['pet.created', 'pet.updated', 'pet.deleted'] as const;
export const petTypes = [added, changed, removed];

/** The messages that grade a receiver, by name. */
export type Messages = ReturnType<typeof fromHistory>;

/** Makes the messages from the history of a new workspace. So they have the form of real ones. Most are of the type `main`. */
export const makeMessages = (store: GradingService, main: string, signal: AbortSignal) =>
  store.inWorkspace((access) =>
    withService({ ...access, signal }, async ({ store: api }) => fromHistory(await historyOf(api), main)),
  );

/** The names of each pet, one after another. No name is a part of another. */
const names = [
  ...['Atlas, Titan', 'Comet, Encke', 'Meteor, Bolide', 'Grüße 🐉 龍, Käfer 🐞 虫', 'Rota, Ceres'],
  ...['Forged, Pallas', 'Late, Juno', 'Groom, Vesta', 'Fields, Hygiea', 'Tide, Ebb'],
  ...['Orion, Lyra, Cetus, Vega', 'Mira, Rigel', 'Sirius, Polaris', 'Altair, Deneb'],
];

async function historyOf(store: Petstore): Promise<Event[]> {
  const category = await store.createCategory({ name: 'Travellers' });
  for (const [name = '', ...newNames] of names.map((line) => line.split(', '))) {
    const { id } = await store.createPet({ name, categoryId: category.id });
    for (const newName of newNames) await store.updatePet(id, { name: newName });
    await store.deletePet(id);
  }
  return Array.fromAsync(store.listEvents({ type: petTypes }));
}

const petOf = (event?: Event) => event?.data as { id: number; name: string };

function fromHistory(events: readonly Event[], main: string) {
  // Ids after this one are new to a receiver that was graded before.
  const lastId = randomInt(2 ** 30);
  /** `name` is the first name of the pet. `aheadMs` is how far the clock was ahead. */
  const messageOf = (name: string, type = main, { nth = 0, aheadMs = 0 } = {}): TrialMessage => {
    const first = events.find((one) => one.type === added && petOf(one).name === name);
    const event = events.filter((one) => one.type === type && petOf(one).id === petOf(first).id)[nth];
    if (!event) throw new Error(`The history lacks ${type} of ${name}.`);
    const id = lastId + Number(event.id);
    const timestamp = new Date(Date.parse(event.timestamp) + aheadMs).toISOString();
    const data = { ...event.data, id: lastId + petOf(event).id };
    return { id: `evt_try_${id}`, type, body: writeExactly({ ...event, id, timestamp, data }) };
  };
  const [later, withFields] = [messageOf('Groom'), messageOf('Fields')];
  const exact = messageOf('Orion', changed, { nth: 1 });
  const { data, ...rest } = JSON.parse(withFields.body);
  const ping = { type: 'ping', timestamp: new Date().toISOString(), data: { webhookId: 1 } };
  return {
    ping: { id: 'evt_try_ping', type: 'ping', body: JSON.stringify(ping) },
    // Each is about another pet. The event of the older pet has the smallest id.
    older: messageOf('Atlas'),
    first: messageOf('Comet'),
    second: messageOf('Meteor'),
    following: messageOf('Tide'),
    inPieces: messageOf('Grüße 🐉 龍'),
    rotated: messageOf('Rota'),
    forged: messageOf('Forged'),
    old: messageOf('Late'),
    // A pet, its first and its last change. By its timestamp the first one is later.
    created: messageOf('Orion', added),
    firstChange: messageOf('Orion', changed, { aheadMs: 1_000 }),
    lastChange: messageOf('Orion', changed, { nth: 2 }),
    // A new pet, its change and its removal.
    otherCreated: messageOf('Mira', added),
    otherChange: messageOf('Mira', changed),
    otherDeleted: messageOf('Mira', removed),
    // New pets and their changes.
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
    .replace(/(?<="categoryId":)\d+/, String(2n ** 53n + 1n))
    .replace('Cetus', 'Cetus 鯨')}\n`;
