import { Type } from 'typebox';
import { Id, mergePatch, PetStatus } from '../../../foundation/schema.ts';
import { operation } from '../../../http/operation.ts';
import { created, empty, page, resource } from '../../../http/responses.ts';
import { NewPet, Pet, PetPatch, Pets, petId } from './schema.ts';
import * as store from './store.ts';

export const petOperations = [
  operation({
    method: 'GET',
    path: '/pets',
    id: 'listPets',
    tag: 'Pets',
    summary: 'List pets',
    description:
      'Returns the pets that match all filters, ordered by id. With `id` it returns these pets, up to a hundred, on one page unless you set `limit`. With one `id` of an existing pet, the `ETag` is that of the pet: you can send it as `If-Match`. Otherwise it is the `ETag` of the page.',
    query: {
      status: Type.Optional(PetStatus),
      categoryId: Type.Optional(Id('Only pets of this category.')),
      id: Type.Optional(
        Type.Array(Id('The id of a pet to return.'), {
          maxItems: 100,
          description: 'Only pets with these ids. Repeat the parameter for more than one: `?id=1&id=2`.',
          examples: [[1, 2]],
        }),
      ),
    },
    success: page<Pet>(Pets, 'A page of pets.', { singleBy: 'id' }),
    handle: (sql, { workspaceId, query, page }) => {
      const limit = query.limit ?? query.id?.length ?? page.limit;
      return store.listPets(sql, workspaceId, query, { ...page, limit });
    },
  }),

  operation({
    method: 'POST',
    path: '/pets',
    id: 'createPet',
    tag: 'Pets',
    summary: 'Add a pet',
    description:
      'Adds a pet to a category, together with its inventory entry: one unit in stock, or none if its `status` is `sold`.',
    body: NewPet,
    success: created(Pet, 'The new pet.'),
    errors: ['invalid_reference'],
    handle: (sql, { workspaceId, body }) => store.createPet(sql, workspaceId, body),
  }),

  operation({
    method: 'GET',
    path: '/pets/{petId}',
    id: 'getPet',
    tag: 'Pets',
    summary: 'Get a pet',
    description:
      'Returns a pet. `GET /pets?id=` does the same for one or several pets. For one pet it returns the same `ETag`.',
    deprecated: { since: '2025-12-05', sunset: '2030-12-05', successor: 'listPets' },
    params: { petId },
    success: resource(Pet, 'The pet.'),
    handle: (sql, { workspaceId, params }) => store.pets.get(sql, workspaceId, params.petId),
  }),

  operation({
    method: 'PUT',
    path: '/pets/{petId}',
    id: 'replacePet',
    tag: 'Pets',
    summary: 'Replace a pet',
    description:
      'Replaces all fields of a pet. Without `status` it becomes `available`. Its inventory entry gets the same status; the stock does not change.',
    params: { petId },
    body: NewPet,
    success: resource(Pet, 'The pet after the change.'),
    errors: ['invalid_reference'],
    handle: (sql, { workspaceId, params, body, assertMayChange }) =>
      store.changePet(sql, workspaceId, params.petId, (current) => {
        assertMayChange(current);
        return body;
      }),
  }),

  operation({
    method: 'PATCH',
    path: '/pets/{petId}',
    id: 'updatePet',
    tag: 'Pets',
    summary: 'Change fields of a pet',
    description:
      'Changes the given fields of a pet (JSON Merge Patch, RFC 7396). A `status` of null becomes `available`.',
    stability: 'beta',
    params: { petId },
    body: PetPatch,
    success: resource(Pet, 'The pet after the change.'),
    errors: ['invalid_reference'],
    handle: (sql, { workspaceId, params, body, assertMayChange }) =>
      store.changePet(sql, workspaceId, params.petId, (current) => {
        assertMayChange(current);
        return mergePatch(current, body);
      }),
  }),

  operation({
    method: 'DELETE',
    path: '/pets/{petId}',
    id: 'deletePet',
    tag: 'Pets',
    summary: 'Remove a pet',
    description:
      'Removes a pet and its inventory entry. Returns 409 `conflict` while an open order holds units of the pet. Complete orders stay.',
    params: { petId },
    sampleParams: { petId: 4 },
    success: empty('The pet was removed.'),
    errors: ['conflict'],
    handle: (sql, { workspaceId, params, assertMayChange }) =>
      store.deletePet(sql, workspaceId, params.petId, assertMayChange),
  }),
];
