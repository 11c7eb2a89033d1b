import { grouped } from '../../../foundation/words.ts';
import { operation } from '../../../http/operation.ts';
import { maxPageBytes } from '../../../http/pagination.ts';
import { created, empty, page, resource } from '../../../http/responses.ts';
import { Categories, Category, categoryId, NewCategory } from './schema.ts';
import * as store from './store.ts';

export const categoryOperations = [
  operation({
    method: 'GET',
    path: '/categories',
    id: 'listCategories',
    tag: 'Pets',
    summary: 'List categories',
    description: `Returns the categories of pets, ordered by id. A page ends early after ${grouped(maxPageBytes)} bytes of names and descriptions.`,
    success: page<Category>(Categories, 'A page of categories.'),
    handle: (sql, { workspaceId, page }) => store.listCategories(sql, workspaceId, page),
  }),

  operation({
    method: 'POST',
    path: '/categories',
    id: 'createCategory',
    tag: 'Pets',
    summary: 'Add a category',
    description: 'Adds a category for pets.',
    body: NewCategory,
    success: created(Category, 'The new category.'),
    handle: (sql, { workspaceId, body }) => store.createCategory(sql, workspaceId, body),
  }),

  operation({
    method: 'GET',
    path: '/categories/{categoryId}',
    id: 'getCategory',
    tag: 'Pets',
    summary: 'Get a category',
    description: 'Returns a category.',
    params: { categoryId },
    success: resource(Category, 'The category.'),
    handle: (sql, { workspaceId, params }) => store.categories.get(sql, workspaceId, params.categoryId),
  }),

  operation({
    method: 'PUT',
    path: '/categories/{categoryId}',
    id: 'replaceCategory',
    tag: 'Pets',
    summary: 'Replace a category',
    description: 'Replaces all fields of a category. Without `description`, the old description is removed.',
    params: { categoryId },
    body: NewCategory,
    success: resource(Category, 'The category after the change.'),
    handle: (sql, { workspaceId, params, body, assertMayChange }) =>
      store.changeCategory(sql, workspaceId, params.categoryId, (current) => {
        assertMayChange(current);
        return body;
      }),
  }),

  operation({
    method: 'DELETE',
    path: '/categories/{categoryId}',
    id: 'deleteCategory',
    tag: 'Pets',
    summary: 'Remove a category',
    description: 'Removes a category. Returns 409 `conflict` while a pet belongs to it.',
    params: { categoryId },
    sampleParams: { categoryId: 7 },
    success: empty('The category was removed.'),
    errors: ['conflict'],
    handle: (sql, { workspaceId, params, assertMayChange }) =>
      store.deleteCategory(sql, workspaceId, params.categoryId, assertMayChange),
  }),
];
