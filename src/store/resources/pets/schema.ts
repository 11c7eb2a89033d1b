import { type Static, Type } from 'typebox';
import { Id, Name, PetStatus, patchOf } from '../../../foundation/schema.ts';

export const petId = Id('The id of the pet.');

const fields = {
  name: Name(200, "The animal's name.", 'Bella'),
  categoryId: Id('The id of the category that the animal belongs to.'),
  status: Type.Optional(PetStatus),
};

export const NewPet = Type.Object(fields, {
  title: 'NewPet',
  description: 'A pet to add, or all fields of a pet to replace.',
});
export type NewPet = Static<typeof NewPet>;

export const PetPatch = Type.Object(patchOf(fields), {
  title: 'PetPatch',
  examples: [{ status: 'sold' }],
  description: 'Fields of a pet to change. A `status` of null becomes `available`.',
});

export const Pet = Type.Object(
  { id: Id('Unique identifier assigned on creation.'), ...fields },
  { title: 'Pet', description: 'An animal in the store.' },
);
export type Pet = Static<typeof Pet>;

export const Pets = Type.Array(Pet, { title: 'Pets', description: 'Pets, ordered by id.' });
