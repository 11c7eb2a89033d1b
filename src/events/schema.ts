import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { Category } from '../categories/schema.ts';
import { type EventType, eventTypes } from '../history/types.ts';
import { InventoryItem } from '../inventory/schema.ts';
import { Order } from '../orders/schema.ts';
import { Pet } from '../pets/schema.ts';
import { DateTime, Id, patchOf } from '../schema.ts';
import { Webhook } from '../webhooks/schema.ts';

export const eventId = Id('The id of the event.');

/** What an event about a resource carries. */
interface Subject {
  data: TObject;
  /** What it says of the resource before an update. */
  previous: TObject;
}

const subject = (data: TObject, key: string, example: object): Subject => {
  const { title } = data as { title?: string };
  const { [key]: _, ...fields } = data.properties as TProperties;
  const previous = Type.Object(patchOf(allOptional(fields)), {
    title: `Previous${title}`,
    description: `The fields of the ${title} that changed, with the values they had; null for a field that was absent. As a JSON Merge Patch it leads back to what was.`,
    examples: [example],
  });
  return { data, previous };
};

const allOptional = (fields: TProperties): TProperties => Type.Partial(Type.Object(fields)).properties;

const category = subject(Category, 'id', { name: 'Dragons' });
const pet = subject(Pet, 'id', { status: 'pending' });
const item = subject(InventoryItem, 'petId', { quantity: 2 });
const order = subject(Order, 'id', { quantity: 2 });

const Nothing = Type.Object({}, { description: 'Holds nothing.' });

interface Meaning {
  /** What its `data` is. */
  data: TSchema & { title?: string };
  meaning: string;
  previous?: TObject;
}

/** What each type of event tells. */
export const eventMeanings: Readonly<Record<EventType, Meaning>> = {
  'category.created': { data: category.data, meaning: 'A category was added.' },
  'category.updated': {
    data: category.data,
    meaning: 'A category was changed.',
    previous: category.previous,
  },
  'category.deleted': { data: category.data, meaning: 'A category was removed. `data` is what it was.' },
  'pet.created': {
    data: pet.data,
    meaning: 'A pet was added, with its inventory entry: one unit, or none when the pet came as `sold`.',
  },
  'pet.updated': {
    data: pet.data,
    meaning: 'A pet was changed, or its status followed its stock.',
    previous: pet.previous,
  },
  'pet.deleted': {
    data: pet.data,
    meaning: 'A pet was removed, with its inventory entry. `data` is what it was.',
  },
  'inventory.updated': {
    data: item.data,
    meaning: 'The stock of a pet changed, or the status that it shares with the pet.',
    previous: item.previous,
  },
  'order.placed': { data: order.data, meaning: 'An order was placed.' },
  'order.updated': { data: order.data, meaning: 'An open order was changed.', previous: order.previous },
  'order.completed': { data: order.data, meaning: 'An order was fulfilled.' },
  'order.cancelled': { data: order.data, meaning: 'An order was cancelled. `data` is what it was.' },
  'workspace.reset': {
    data: Nothing,
    meaning: 'The workspace was emptied, or a part of it. Read the lists anew. The history goes on.',
  },
  'workspace.seeded': {
    data: Nothing,
    meaning: 'Many rows were added at once, without an event for each. Read the lists anew.',
  },
  'webhook.disabled': {
    data: Webhook,
    meaning: 'The service disabled a webhook. `disabledReason` says why.',
  },
};

const variants = eventTypes.map((type) => {
  const { data, meaning, previous } = eventMeanings[type];
  return Type.Object(
    {
      id: Id('The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps.'),
      type: Type.Literal(type, { description: 'What the event tells.', examples: [type] }),
      timestamp: DateTime('When the change was made, in UTC.', '2026-11-21T09:30:00.000Z'),
      requestId: Type.Optional(
        Type.String({
          description: '`X-Request-Id` of the request that made the change. Absent if none did.',
          examples: ['walk-1'],
        }),
      ),
      data,
      ...(previous && { previous }),
    },
    { title: titleOf(type), description: meaning },
  );
});

/** `PetUpdated` for `pet.updated`. */
function titleOf(type: string): string {
  return type.replace(/(?:^|\.)(\w)/g, (_, letter) => letter.toUpperCase());
}

export const Event = Type.Union(variants, {
  title: 'Event',
  discriminator: 'type',
  description:
    'One line of the history of a workspace. Its `type` says what `data` is. More types may be added, so skip those that you do not know.',
});
export type Event = Type.Static<(typeof variants)[number]>;

export const Events = Type.Array(Event, {
  title: 'Events',
  description: 'Events in the order of their ids.',
});
