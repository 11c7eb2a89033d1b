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
] as const;

export type EventType = (typeof eventTypes)[number];
