import { event } from '../../history/event.ts';
import { Pet } from './schema.ts';

export const petCreated = event({
  type: 'pet.created',
  change: 'created',
  data: Pet,
  meaning: 'A pet was added, with its inventory entry: one unit, or none if its status is `sold`.',
});

export const petUpdated = event({
  type: 'pet.updated',
  change: 'updated',
  data: Pet,
  meaning: 'A pet was changed, or its status changed with its stock.',
  previousExample: { status: 'pending' },
});

export const petDeleted = event({
  type: 'pet.deleted',
  change: 'deleted',
  data: Pet,
  meaning: 'A pet was removed, with its inventory entry. `data` is its last state.',
});

export const petEvents = [petCreated, petUpdated, petDeleted] as const;
