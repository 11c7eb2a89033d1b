import { ForeignKeyError, fragment, join, type Row, type Sql } from '../db/sql.ts';
import { ApiError } from '../errors.ts';
import { type Page, type PageRequest, toPage } from '../page.ts';
import type { PetStatus } from '../schema.ts';
import { allocateIds } from '../workspaces/store.ts';
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
export async function createPet(sql: Sql, workspaceId: number, pet: NewPet): Promise<Pet> {
  const id = await allocateIds(sql, workspaceId, 'pets');
  const status = pet.status ?? 'available';
  const stock = status === 'sold' ? 0 : 1;
  await sql`
    insert into pets (workspace_id, id, name, category_id, status, stock)
    values (${workspaceId}, ${id}, ${pet.name}, ${pet.categoryId}, ${status}, ${stock})
  `.catch(refuseCategory);
  return toPet([id, pet.name, pet.categoryId, status]);
}

/** Replaces a pet by the result of `change`. The row is locked first, so that no other change comes in between. */
export async function changePet(
  sql: Sql,
  workspaceId: number,
  id: number,
  change: (current: Pet) => NewPet,
): Promise<Pet> {
  const { name, categoryId, status = 'available' } = change(await lockPet(sql, workspaceId, id));
  const [row] = await sql`
    update pets set name = ${name}, category_id = ${categoryId}, status = ${status}
    where workspace_id = ${workspaceId} and id = ${id} returning id, name, category_id, status
  `.catch(refuseCategory);
  return toPet(row as Row);
}

/** Removes a pet and its inventory entry. Throws `conflict` while an open order holds units of it. */
export async function deletePet(
  sql: Sql,
  workspaceId: number,
  id: number,
  check: (current: Pet) => void,
): Promise<void> {
  check(await lockPet(sql, workspaceId, id));
  const [order] = await sql`
    select id from orders where workspace_id = ${workspaceId} and pet_id = ${id} and complete = 0 limit 1`;
  if (order) {
    throw new ApiError(
      'conflict',
      `Order ${order[0]} is open and holds units of pet ${id}. Complete or cancel it first.`,
    );
  }
  await sql`delete from pets where workspace_id = ${workspaceId} and id = ${id}`;
}

/** An update that changes nothing locks the row until the transaction ends, on both engines. */
async function lockPet(sql: Sql, workspaceId: number, id: number): Promise<Pet> {
  const [row] = await sql`
    update pets set stock = stock where workspace_id = ${workspaceId} and id = ${id}
    returning id, name, category_id, status`;
  return toPet(row ?? noSuchPet());
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

const toPet = ([id, name, categoryId, status]: Row): Pet => ({
  id: Number(id),
  name: String(name),
  categoryId: Number(categoryId),
  status: status as PetStatus,
});
