import type { Transaction } from '../db/database.ts';
import { ForeignKeyError, fragment, join, type Sql } from '../db/sql.ts';
import { ApiError } from '../errors.ts';
import { record } from '../history/record.ts';
import { type Page, type PageRequest, toPage } from '../page.ts';
import type { PetStatus } from '../schema.ts';
import { allocateIds } from '../workspaces/store.ts';
import { lockPetRow, type PetRow, petOf, recordItem, recordPet, toPet } from './row.ts';
import type { NewPet, Pet } from './schema.ts';

export interface PetFilter {
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
    select id, name, category_id, status from pets
    where ${join(conditions, ' and ')} order by id limit ${page.limit + 1}`;
  return toPage(rows, page.limit, toPet);
}

export async function getPet(sql: Sql, workspaceId: number, id: number): Promise<Pet> {
  const [row] = await sql`
    select id, name, category_id, status from pets where workspace_id = ${workspaceId} and id = ${id}`;
  return toPet(row ?? noSuchPet());
}

/** Adds a pet and its inventory entry: one unit, or none when it is sold. */
export async function createPet(sql: Transaction, workspaceId: number, pet: NewPet): Promise<Pet> {
  const status = pet.status ?? 'available';
  const stock = status === 'sold' ? 0 : 1;
  const [id] = await sql.last(
    Promise.all([
      allocateIds(sql, workspaceId, 'pets'),
      sql`
        insert into pets (workspace_id, id, name, category_id, status, stock)
        select workspace_id, last_id, ${pet.name}, ${pet.categoryId}, ${status}, ${stock}
        from sequences where workspace_id = ${workspaceId} and kind = 'pets'`.catch(refuseCategory),
    ]),
  );
  const created = toPet([id, pet.name, pet.categoryId, status]);
  record(sql, workspaceId, 'pet.created', created);
  return created;
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
  record(sql, workspaceId, 'pet.deleted', pet);
}

async function lockPet(sql: Transaction, workspaceId: number, id: number): Promise<PetRow> {
  return (await lockPetRow(sql, workspaceId, id)) ?? noSuchPet();
}

/** The foreign key checks for the category while the row is written. */
function refuseCategory(error: unknown): never {
  if (error instanceof ForeignKeyError) {
    throw new ApiError(
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
