import { event } from '../../history/event.ts';
import { Category } from './schema.ts';

export const categoryCreated = event({
  type: 'category.created',
  change: 'created',
  data: Category,
  meaning: 'A category was added.',
});

export const categoryUpdated = event({
  type: 'category.updated',
  change: 'updated',
  data: Category,
  meaning: 'A category was changed.',
  previousExample: { name: 'Dragons' },
});

export const categoryDeleted = event({
  type: 'category.deleted',
  change: 'deleted',
  data: Category,
  meaning: 'A category was removed. `data` is its last state.',
});

export const categoryEvents = [categoryCreated, categoryUpdated, categoryDeleted] as const;
