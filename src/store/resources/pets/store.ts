import type { Transaction } from '../../../db/database.ts';
import { columns, ForeignKeyError, fragment, join, type NamedRow, type Sql } from '../../../db/sql.ts';
import { ApiError, bodyProperty, errorAt } from '../../../foundation/errors.ts';
import type { PetStatus } from '../../../foundation/schema.ts';
import { type Page, type PageRequest, toPage } from '../../../http/pagination.ts';
import { recordEvent, recordUpdate } from '../../history/record.ts';
import { allocateIds } from '../../workspaces/store.ts';
import { inventoryUpdated } from '../inventory/events.ts';
import { petCreated, petDeleted, petUpdated } from './events.ts';
import type { NewPet, Pet } from './schema.ts';

/** The row that a pet and its inventory entry share. */
export interface PetRow extends Pet {
  status: PetStatus;
  stock: number;
}

const petColumnNames = ['id', 'name', 'category_id', 'status'] as const;

/** The pet of a row, without its stock. */
const petOf = ({
  id,
  name,
  categoryId,
  status,
}: NamedRow<(typeof petColumnNames)[number]>): Omit<PetRow, 'stock'> => ({
  id: Number(id),
  name: String(name),
  categoryId: Number(categoryId),
  status: status as PetStatus,
});

const petColumns = columns(petColumnNames, petOf);
const rowColumns = columns(
  [...petColumnNames, 'stock'],
  (row): PetRow => ({ ...petOf(row), stock: Number(row.stock) }),
);

interface PetFilter {
  status?: PetStatus;
  categoryId?: number;
  /** Only pets with these ids. */
  id?: number[];
}

export async function listPets(
  sql: Sql,
  workspaceId: number,
  filter: PetFilter,
  page: PageRequest,
): Promise<Page<Pet>> {
  const conditions = [fragment`workspace_id = ${workspaceId}`, fragment`id > ${page.after}`];
  if (filter.status) conditions.push(fragment`status = ${filter.status}`);
  if (filter.categoryId !== undefined) conditions.push(fragment`category_id = ${filter.categoryId}`);
  if (filter.id) conditions.push(fragment`id in (${join(filter.id, ', ')})`);
  const rows = await sql`
    select ${petColumns.list} from pets
    where ${join(conditions, ' and ')} order by id limit ${page.limit + 1}`;
  return toPage(rows, page.limit, petColumns.read);
}

export async function getPet(sql: Sql, workspaceId: number, id: number): Promise<Pet> {
  const [row] = await sql`
    select ${petColumns.list} from pets where workspace_id = ${workspaceId} and id = ${id}`;
  return petColumns.read(row ?? noSuchPet());
}

/** Adds a pet and its inventory entry: one unit, or none when it is sold. */
export async function createPet(sql: Transaction, workspaceId: number, pet: NewPet): Promise<Pet> {
  const { name, categoryId, status = 'available' } = pet;
  const stock = status === 'sold' ? 0 : 1;
  const [id] = await sql.finalStatements(
    Promise.all([
      allocateIds(sql, workspaceId, 'pets'),
      sql`
        insert into pets (workspace_id, ${rowColumns.list})
        select workspace_id, last_id, ${name}, ${categoryId}, ${status}, ${stock}
        from sequences where workspace_id = ${workspaceId} and kind = 'pets'`.catch(refuseCategory),
    ]),
  );
  const created = { id, name, categoryId, status };
  recordEvent(sql, workspaceId, petCreated, created);
  return created;
}

/** Adds many pets, whose ids are allocated and whose categories exist, without an event for each. */
export async function insertPets(sql: Sql, workspaceId: number, pets: readonly PetRow[]): Promise<void> {
  const rows = pets.map(
    ({ id, name, categoryId, status, stock }) =>
      fragment`(${workspaceId}, ${id}, ${name}, ${categoryId}, ${status}, ${stock})`,
  );
  await sql`
    insert into pets (workspace_id, ${rowColumns.list}) values ${join(rows, ', ')}`;
}

/** Replaces a pet by the result of `change`. The row is locked first, so that no other change comes in between. */
export async function changePet(
  sql: Transaction,
  workspaceId: number,
  id: number,
  change: (current: Pet) => NewPet,
): Promise<Pet> {
  const before = await lockPet(sql, workspaceId, id);
  const { name, categoryId, status = 'available' } = change(petOf(before));
  await sql`
    update pets set name = ${name}, category_id = ${categoryId}, status = ${status}
    where workspace_id = ${workspaceId} and id = ${id}
  `.catch(refuseCategory);
  const after = { ...before, name, categoryId, status };
  recordPet(sql, workspaceId, before, after);
  recordItem(sql, workspaceId, before, after);
  return petOf(after);
}

/** Removes a pet and its inventory entry. Throws `conflict` while an open order holds units of it. */
export async function deletePet(
  sql: Transaction,
  workspaceId: number,
  id: number,
  check: (current: Pet) => void,
): Promise<void> {
  const pet = petOf(await lockPet(sql, workspaceId, id));
  check(pet);
  const [order] = await sql`
    select id from orders where workspace_id = ${workspaceId} and pet_id = ${id} and complete = 0 limit 1`;
  if (order) {
    throw new ApiError(
      'conflict',
      (shown) =>
        `Order ${shown(order[0])} is open and holds units of pet ${shown(id)}. Complete or cancel it first.`,
    );
  }
  await sql`delete from pets where workspace_id = ${workspaceId} and id = ${id}`;
  recordEvent(sql, workspaceId, petDeleted, pet);
}

/**
 * The row of a pet, if there is one, locked until the transaction ends: an update that changes nothing locks it on both
 * engines.
 */
export async function lockPetRow(
  sql: Transaction,
  workspaceId: number,
  id: number,
): Promise<PetRow | undefined> {
  const [row] = await sql`
    update pets set stock = stock where workspace_id = ${workspaceId} and id = ${id}
    returning ${rowColumns.list}`;
  return row && rowColumns.read(row);
}

async function lockPet(sql: Transaction, workspaceId: number, id: number): Promise<PetRow> {
  return (await lockPetRow(sql, workspaceId, id)) ?? noSuchPet();
}

/** The foreign key checks for the category while the row is written. */
function refuseCategory(error: unknown): never {
  if (error instanceof ForeignKeyError) {
    throw errorAt(
      bodyProperty('categoryId').place,
      'invalid_reference',
      'There is no category with this categoryId.',
      {},
      { cause: error },
    );
  }
  throw error;
}

function noSuchPet(): never {
  throw new ApiError('not_found', 'There is no pet with this petId.');
}

export const itemOf = ({ id, stock, status }: PetRow) => ({ petId: id, quantity: stock, status });

export const recordPet = (sql: Transaction, workspaceId: number, before: PetRow, after: PetRow) =>
  recordUpdate(sql, workspaceId, petUpdated, petOf(before), petOf(after));

export const recordItem = (sql: Transaction, workspaceId: number, before: PetRow, after: PetRow) =>
  recordUpdate(sql, workspaceId, inventoryUpdated, itemOf(before), itemOf(after));
