import type { Transaction } from '../db/database.ts';
import type { Row } from '../db/sql.ts';
import { recordUpdate } from '../history/record.ts';
import type { PetStatus } from '../schema.ts';
import type { Pet } from './schema.ts';

/** The row that a pet and its inventory entry share. */
export interface PetRow extends Pet {
  status: PetStatus;
  stock: number;
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
    returning id, name, category_id, status, stock`;
  return row && { ...toPet(row), stock: Number(row[4]) };
}

/** A pet from the columns id, name, category_id and status. */
export const toPet = ([id, name, categoryId, status]: Row): Pet & { status: PetStatus } => ({
  id: Number(id),
  name: String(name),
  categoryId: Number(categoryId),
  status: status as PetStatus,
});

export const petOf = ({ id, name, categoryId, status }: PetRow): Pet => ({ id, name, categoryId, status });

export const itemOf = ({ id, stock, status }: PetRow) => ({ petId: id, quantity: stock, status });

export const recordPet = (sql: Transaction, workspaceId: number, before: PetRow, after: PetRow) =>
  recordUpdate(sql, workspaceId, 'pet.updated', petOf(before), petOf(after));

export const recordItem = (sql: Transaction, workspaceId: number, before: PetRow, after: PetRow) =>
  recordUpdate(sql, workspaceId, 'inventory.updated', itemOf(before), itemOf(after));
