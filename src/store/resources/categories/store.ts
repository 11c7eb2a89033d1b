import type { Transaction } from '../../../db/database.ts';
import { allocateIds } from '../../../db/ids.ts';
import { columns, fragment, type Row, type Sql } from '../../../db/sql.ts';
import { ApiError } from '../../../foundation/errors.ts';
import { fittingLimit, type Page, type PageRequest, toPage } from '../../../http/pagination.ts';
import { recordEvent, recordUpdate } from '../../history/record.ts';
import { ResourceTable } from '../resource-table.ts';
import {
  type Category,
  categoryCreated,
  categoryDeleted,
  categoryUpdated,
  type NewCategory,
} from './schema.ts';

const categoryColumns = columns(
  'id, name, description',
  ({ id, name, description }): Category => ({
    id: Number(id),
    name: String(name),
    ...(description !== null && { description: String(description) }),
  }),
);

export const categories = new ResourceTable({
  table: 'categories',
  columns: categoryColumns,
  lockColumn: 'name',
  notFound: 'There is no category with this categoryId.',
});

export async function listCategories(
  sql: Sql,
  workspaceId: number,
  page: PageRequest,
): Promise<Page<Category>> {
  const from = fragment`
    from categories where workspace_id = ${workspaceId} and id > ${page.after} order by id`;
  const limit = await fittingLimit(
    page.limit,
    () => sql`select octet_length(name) + coalesce(octet_length(description), 0) ${from} limit ${page.limit}`,
  );
  const rows = await sql`select ${categoryColumns.list} ${from} limit ${limit + 1}`;
  // JSON has control characters as six bytes.
  const sizes = async () => rows.map((row) => [Buffer.byteLength(JSON.stringify(row))]);
  return toPage(rows, await fittingLimit(limit, sizes), categoryColumns.read);
}

export async function createCategory(
  sql: Transaction,
  workspaceId: number,
  category: NewCategory,
): Promise<Category> {
  const { name, description = null } = category;
  const [, [row]] = await sql.finalStatements(
    Promise.all([
      allocateIds(sql, workspaceId, 'categories'),
      sql`
        insert into categories (workspace_id, id, name, description)
        select workspace_id, last_id, ${name}, ${description}
        from sequences where workspace_id = ${workspaceId} and kind = 'categories'
        returning ${categoryColumns.list}`,
    ]),
  );
  const created = categoryColumns.read(row as Row);
  recordEvent(sql, workspaceId, categoryCreated, created);
  return created;
}

/** Replaces a category by the result of `change`. The row is locked first, so that no other change comes in between. */
export async function changeCategory(
  sql: Transaction,
  workspaceId: number,
  id: number,
  change: (current: Category) => NewCategory,
): Promise<Category> {
  const before = await categories.lock(sql, workspaceId, id);
  const { name, description = null } = change(before);
  const [row] = await sql`
    update categories set name = ${name}, description = ${description}
    where workspace_id = ${workspaceId} and id = ${id} returning ${categoryColumns.list}`;
  const after = categoryColumns.read(row as Row);
  recordUpdate(sql, workspaceId, categoryUpdated, before, after);
  return after;
}

/** Removes a category if `check` accepts the present one. Throws `conflict` while a pet belongs to it. */
export async function deleteCategory(
  sql: Transaction,
  workspaceId: number,
  id: number,
  check: (current: Category) => void,
): Promise<void> {
  const current = await categories.lock(sql, workspaceId, id);
  check(current);
  const [pet] = await sql`
    select id from pets where workspace_id = ${workspaceId} and category_id = ${id} limit 1`;
  if (pet)
    throw new ApiError(
      'conflict',
      (shown) => `Pet ${shown(pet[0])} belongs to this category. Move or remove its pets first.`,
    );
  await sql`delete from categories where workspace_id = ${workspaceId} and id = ${id}`;
  recordEvent(sql, workspaceId, categoryDeleted, current);
}
