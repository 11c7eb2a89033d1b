import { createCategory, listCategories } from '../categories/store.ts';
import type { Cause, Database, Transaction } from '../db/database.ts';
import { fragment, join, type Sql } from '../db/sql.ts';
import { record, unrecorded } from '../history/record.ts';
import { allocateIds } from '../workspaces/store.ts';

const petsPerStatement = 500;
const petsPerTransaction = 10_000;

const firstNames = [
  'Alfie',
  'Biscuit',
  'Coco',
  'Daisy',
  'Ella',
  'Finn',
  'Gizmo',
  'Honey',
  'Ivy',
  'Jasper',
  'Koda',
  'Lola',
  'Milo',
  'Nala',
  'Otis',
  'Poppy',
  'Quinn',
  'Ruby',
  'Simba',
  'Teddy',
];
const epithets = ['', ' the Brave', ' the Small', ' the Swift', ' Junior', ' of the Hill', ' the Gentle'];

/**
 * Adds `count` plausible pets with their inventory to a workspace, in transactions of ten thousand with one event each, and
 * calls `progress` with the count after each. A workspace without categories gets one.
 */
export async function addPets(
  db: Database,
  workspaceId: number,
  count: number,
  cause: Cause,
  progress: (done: number) => void,
): Promise<void> {
  for (let done = 0; done < count; ) {
    const batch = Math.min(petsPerTransaction, count - done);
    await db.write(async (transaction) => {
      const sql = unrecorded(transaction);
      const categoryIds = await categoryIdsOf(sql, workspaceId);
      const firstId = await allocateIds(sql, workspaceId, 'pets', batch);
      for (let offset = 0; offset < batch; offset += petsPerStatement) {
        await insertPets(
          sql,
          workspaceId,
          firstId + offset,
          Math.min(petsPerStatement, batch - offset),
          categoryIds,
        );
      }
      record(transaction, workspaceId, 'workspace.seeded', {});
    }, cause);
    done += batch;
    progress(done);
  }
}

async function categoryIdsOf(sql: Transaction, workspaceId: number): Promise<number[]> {
  const { items } = await listCategories(sql, workspaceId, { after: 0, limit: 100 });
  if (items.length > 0) return items.map(({ id }) => id);
  const { id } = await createCategory(sql, workspaceId, { name: 'Animals' });
  return [id];
}

async function insertPets(
  sql: Sql,
  workspaceId: number,
  firstId: number,
  count: number,
  categoryIds: number[],
) {
  const rows = Array.from({ length: count }, (_, i) => {
    const { id, name, categoryId, status, stock } = plausiblePet(firstId + i, categoryIds);
    return fragment`(${workspaceId}, ${id}, ${name}, ${categoryId}, ${status}, ${stock})`;
  });
  await sql`insert into pets (workspace_id, id, name, category_id, status, stock) values ${join(rows, ', ')}`;
}

/** The same pet for the same id, so that a bulk of pets is the same everywhere. About one in ten is out of stock. */
function plausiblePet(id: number, categoryIds: number[]) {
  const pick = <T>(from: readonly T[], step: number) => from[Math.floor(id / step) % from.length] as T;
  const stock = id % 10 === 0 ? 0 : 1 + ((id * 7) % 40);
  return {
    id,
    name: pick(firstNames, 1) + pick(epithets, firstNames.length),
    categoryId: pick(categoryIds, 3),
    status: stock > 0 ? 'available' : 'sold',
    stock,
  };
}
