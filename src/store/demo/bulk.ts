import type { Database, Transaction, WriteContext } from '../../db/database.ts';
import { allocateIds } from '../../db/ids.ts';
import { recordEvent, unrecorded } from '../history/record.ts';
import { createCategory, listCategories } from '../resources/categories/store.ts';
import { insertPets, type PetRow } from '../resources/pets/store.ts';
import { workspaceSeeded } from '../workspaces/store.ts';

const petsPerStatement = 500;
const petsPerTransaction = 10_000;

const firstNames = (
  'Alfie Biscuit Coco Daisy Ella Finn Gizmo Honey Ivy Jasper ' +
  'Koda Lola Milo Nala Otis Poppy Quinn Ruby Simba Teddy'
).split(' ');
const epithets = ['', ' the Brave', ' the Small', ' the Swift', ' Junior', ' of the Hill', ' the Gentle'];

/**
 * Adds `count` plausible pets with their inventory to a workspace, in transactions of 10,000 with one event each. Calls
 * `progress` with the count after each. An aborted signal stops it after the current transaction. A workspace without
 * categories gets one.
 */
export async function addPets(
  db: Database,
  workspaceId: number,
  count: number,
  context: WriteContext,
  progress: (done: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  for (let done = 0; done < count && !signal?.aborted; ) {
    const batch = Math.min(petsPerTransaction, count - done);
    await db.write(async (transaction) => {
      const sql = unrecorded(transaction);
      const categoryIds = await categoryIdsOf(sql, workspaceId);
      const firstId = await allocateIds(sql, workspaceId, 'pets', batch);
      const pets = Array.from({ length: batch }, (_, i) => plausiblePet(firstId + i, categoryIds));
      for (let offset = 0; offset < batch; offset += petsPerStatement)
        await insertPets(sql, workspaceId, pets.slice(offset, offset + petsPerStatement));
      recordEvent(transaction, workspaceId, workspaceSeeded, {});
    }, context);
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

/** The same id always gives the same pet. One in ten is out of stock. */
function plausiblePet(id: number, categoryIds: number[]): PetRow {
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
