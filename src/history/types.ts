import Type from 'typebox';

/**
 * Every type of event in a history, in the order in which the description lists them. `events/schema.ts` says what the data of
 * each are.
 */
export const eventTypes = [
  'category.created',
  'category.updated',
  'category.deleted',
  'pet.created',
  'pet.updated',
  'pet.deleted',
  'inventory.updated',
  'order.placed',
  'order.updated',
  'order.completed',
  'order.cancelled',
  'workspace.reset',
  'workspace.seeded',
  'webhook.disabled',
] as const;

export type EventType = (typeof eventTypes)[number];

/** An event type where a caller names one. */
export const KnownEventType = Type.Enum([...eventTypes], {
  type: 'string',
  title: 'EventType',
  description: 'What an event tells. More types may be added.',
  examples: ['pet.updated'],
});
