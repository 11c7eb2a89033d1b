import type { Transaction } from '../../../db/database.ts';
import { allocateIds } from '../../../db/ids.ts';
import { columns, ForeignKeyError, fragment, join, type NamedRow, type Sql } from '../../../db/sql.ts';
import { ApiError, bodyProperty, errorAt } from '../../../foundation/errors.ts';
import type { PetStatus } from '../../../foundation/schema.ts';
import type { Page, PageRequest } from '../../../http/pagination.ts';
import { recordEvent, recordUpdate } from '../../history/record.ts';
import { ResourceTable } from '../resource-table.ts';
import {
  type InventoryItem,
  inventoryUpdated,
  type NewPet,
  type Pet,
  petCreated,
  petDeleted,
  petUpdated,
} from './schema.ts';

/** The row that a pet and its inventory entry share. */
export interface PetRow extends Pet {
  status: PetStatus;
  stock: number;
}

const petColumnNames = 'id, name, category_id, status';

const readPet = ({ id, name, categoryId, status }: NamedRow<typeof petColumnNames>) => ({
  id: Number(id),
  name: String(name),
  categoryId: Number(categoryId),
  status: status as PetStatus,
});

const rowColumns = columns(
  `${petColumnNames}, stock`,
  (row): PetRow => ({ ...readPet(row), stock: Number(row.stock) }),
);
const table = { table: 'pets', lockColumn: 'stock', notFound: 'There is no pet with this petId.' } as const;

export const pets = new ResourceTable<Pet>({ ...table, columns: columns(petColumnNames, readPet) });
/** The pets with their stock. */
export const petRows = new ResourceTable({ ...table, columns: rowColumns });

const withoutStock = ({ stock, ...pet }: PetRow): Pet => pet;

export const listPets = (
  sql: Sql,
  workspaceId: number,
  { status, categoryId, id }: { status?: PetStatus; categoryId?: number; id?: number[] },
  page: PageRequest,
): Promise<Page<Pet>> =>
  pets.list(sql, workspaceId, page, [
    status && fragment`status = ${status}`,
    categoryId === undefined ? undefined : fragment`category_id = ${categoryId}`,
    id && fragment`id in (${join(id, ', ')})`,
  ]);

/** Adds a pet and its inventory entry: one unit, or none when it is sold. */
export async function createPet(sql: Transaction, workspaceId: number, pet: NewPet): Promise<Pet> {
  const { name, categoryId, status = 'available' } = pet;
  const stock = status === 'sold' ? 0 : 1;
  const [id] = await sql.finalStatements(
    Promise.all([
      allocateIds(sql, workspaceId, 'pets'),
      sql`
        insert into pets (workspace_id, id, name, category_id, status, stock)
        select workspace_id, last_id, ${name}, ${categoryId}, ${status}, ${stock}
        from sequences where workspace_id = ${workspaceId} and kind = 'pets'`.catch(refuseCategory),
    ]),
  );
  const created = readPet({ id, name, categoryId, status });
  recordEvent(sql, workspaceId, petCreated, created);
  return created;
}

/** Adds many pets, whose ids are allocated and whose categories exist, without an event for each. */
export async function insertPets(sql: Sql, workspaceId: number, added: readonly PetRow[]): Promise<void> {
  const rows = added.map(
    ({ id, name, categoryId, status, stock }) =>
      fragment`(${workspaceId}, ${id}, ${name}, ${categoryId}, ${status}, ${stock})`,
  );
  await sql`
    insert into pets (workspace_id, id, name, category_id, status, stock) values ${join(rows, ', ')}`;
}

/** Replaces a pet by the result of `change`. The row is locked first, so that no other change comes in between. */
export async function changePet(
  sql: Transaction,
  workspaceId: number,
  id: number,
  change: (current: Pet) => NewPet,
): Promise<Pet> {
  const before = await petRows.lock(sql, workspaceId, id);
  const { name, categoryId, status = 'available' } = change(withoutStock(before));
  await sql`
    update pets set name = ${name}, category_id = ${categoryId}, status = ${status}
    where workspace_id = ${workspaceId} and id = ${id}
  `.catch(refuseCategory);
  const after = { ...readPet({ id, name, categoryId, status }), stock: before.stock };
  recordPet(sql, workspaceId, before, after);
  recordInventory(sql, workspaceId, before, after);
  return withoutStock(after);
}

/** Removes a pet and its inventory entry. Throws `conflict` while an open order holds units of it. */
export async function deletePet(
  sql: Transaction,
  workspaceId: number,
  id: number,
  check: (current: Pet) => void,
): Promise<void> {
  const pet = withoutStock(await petRows.lock(sql, workspaceId, id));
  check(pet);
  const [order] = await sql`
    select id from orders where workspace_id = ${workspaceId} and pet_id = ${id} and complete = 0 limit 1`;
  if (order)
    throw new ApiError(
      'conflict',
      (shown) =>
        `Order ${shown(order[0])} is open and holds units of pet ${shown(id)}. Complete or cancel it first.`,
    );
  await sql`delete from pets where workspace_id = ${workspaceId} and id = ${id}`;
  recordEvent(sql, workspaceId, petDeleted, pet);
}

/** The foreign key checks for the category while the row is written. */
function refuseCategory(error: unknown): never {
  if (error instanceof ForeignKeyError)
    throw errorAt(
      bodyProperty('categoryId').place,
      'invalid_reference',
      'There is no category with this categoryId.',
      {},
      { cause: error },
    );
  throw error;
}

export const toInventoryItem = ({
  id,
  stock,
  status,
}: Pick<PetRow, 'id' | 'stock' | 'status'>): InventoryItem => ({ petId: id, quantity: stock, status });

export const recordPet = (sql: Transaction, workspaceId: number, before: PetRow, after: PetRow) =>
  recordUpdate(sql, workspaceId, petUpdated, withoutStock(before), withoutStock(after));

export const recordInventory = (sql: Transaction, workspaceId: number, before: PetRow, after: PetRow) =>
  recordUpdate(sql, workspaceId, inventoryUpdated, toInventoryItem(before), toInventoryItem(after));
