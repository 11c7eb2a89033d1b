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

/** The messages that grade a receiver, by name. */
export type Messages = ReturnType<typeof fromHistory>;

/** Makes the messages from the history of a new workspace, so that they have the form of real messages. */
export const makeMessages = (store: GradingService, signal: AbortSignal): Promise<Messages> =>
  store.inWorkspace((access) =>
    withService({ ...access, signal }, async ({ store: api }) => fromHistory(await historyOf(api))),
  );

async function historyOf(store: Petstore): Promise<Event[]> {
  const category = await store.createCategory({ name: 'Travellers' });
  const add = async (name: string) => (await store.createPet({ name, categoryId: category.id })).id;
  const rename = (id: Awaited<ReturnType<typeof add>>, name: string) => store.updatePet(id, { name });
  const first = await add('Comet');
  await rename(first, 'Comet the Second');
  await rename(first, 'Comet the Third');
  const second = await add('Meteor');
  await rename(second, 'Meteor the Second');
  await store.deletePet(second);
  for (const name of ['Grüße 🐉 龍', 'Rota', 'Forged', 'Late', 'Later', 'Fields']) await add(name);
  const events: Event[] = [];
  for await (const event of store.listEvents({ type: ['pet.created', 'pet.updated', 'pet.deleted'] }))
    events.push(event);
  return events;
}

function fromHistory(events: readonly Event[]) {
  const messageOf = (type: string, name: string): TrialMessage => {
    const event = events.find((one) => one.type === type && (one.data as { name?: string }).name === name);
    if (!event) throw new Error(`The history lacks ${type} of ${name}.`);
    return { id: `evt_try_${event.id}`, type, body: writeExactly(event) };
  };
  const later = messageOf('pet.created', 'Later');
  const withFields = messageOf('pet.created', 'Fields');
  const { data, ...rest } = JSON.parse(withFields.body);
  return {
    ping: pingMessage(),
    // A pet, and two later changes of its name.
    created: messageOf('pet.created', 'Comet'),
    firstChange: messageOf('pet.updated', 'Comet the Second'),
    secondChange: messageOf('pet.updated', 'Comet the Third'),
    // A new pet, its change and its removal.
    otherCreated: messageOf('pet.created', 'Meteor'),
    otherChange: messageOf('pet.updated', 'Meteor the Second'),
    otherDeleted: messageOf('pet.deleted', 'Meteor the Second'),
    // New pets without other events. This name has characters of two to four bytes.
    inPieces: messageOf('pet.created', 'Grüße 🐉 龍'),
    rotated: messageOf('pet.created', 'Rota'),
    forged: messageOf('pet.created', 'Forged'),
    old: messageOf('pet.created', 'Late'),
    // Events of a later version.
    unknownType: { ...later, type: 'pet.groomed', body: later.body.replace('pet.created', 'pet.groomed') },
    unknownFields: {
      ...withFields,
      body: JSON.stringify({ ...rest, origin: 'web', data: { ...data, microchip: '968000010203040' } }),
    },
  };
}

function pingMessage(): TrialMessage {
  const body = { type: 'ping', timestamp: new Date().toISOString(), data: { webhookId: 1 } };
  return { id: 'evt_try_ping', type: 'ping', body: JSON.stringify(body) };
}
