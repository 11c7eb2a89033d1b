import { type Static, Type } from 'typebox';
import { Id, Name, Text } from '../../../foundation/schema.ts';
import { event } from '../../history/event.ts';

export const categoryId = Id('The id of the category.');

const fields = {
  name: Name(200, 'Category name, for example a kind of animal.', 'Dogs'),
  description: Type.Optional(
    Text(2_000, 'Short description of the category.', 'Loyal, and fond of long walks.'),
  ),
};

export const NewCategory = Type.Object(fields, {
  title: 'NewCategory',
  description: 'A category to add, or all fields of a category to replace.',
});
export type NewCategory = Static<typeof NewCategory>;

export const Category = Type.Object(
  { id: Id('Unique identifier assigned on creation.'), ...fields },
  { title: 'Category', description: 'A category of pets.' },
);
export type Category = Static<typeof Category>;

export const Categories = Type.Array(Category, {
  title: 'Categories',
  description: 'Categories, ordered by id.',
});

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
