import { join } from 'node:path';
import { createKey, findWorkspaceOfKey } from '../../access/keys/store.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { inDataDir, readOwnFile, replaceFile } from '../../foundation/settings/data-dir.ts';
import { recordEvent, unrecorded } from '../history/record.ts';
import { createCategory } from '../resources/categories/store.ts';
import type { Order } from '../resources/orders/schema.ts';
import { placeOrder } from '../resources/orders/store.ts';
import { updateInventory } from '../resources/pets/stock.ts';
import { createPet } from '../resources/pets/store.ts';
import {
  assertStillThere,
  clearWorkspace,
  createWorkspace,
  demoWorkspace,
  lockWorkspace,
  type Workspace,
  workspaceSeeded,
} from '../workspaces/store.ts';

/** Categories in the order of their ids, and the stock of their pets before the orders. */
const categories: { name: string; description: string; pets: Record<string, number> }[] = [
  {
    name: 'Dogs',
    description: 'Loyal, and fond of long walks.',
    pets: { Bella: 5, Rex: 2, Luna: 1, Barney: 0, Pepper: 3 },
  },
  {
    name: 'Cats',
    description: 'Quiet company with opinions of its own.',
    pets: { Whiskers: 4, Cleo: 1, Oscar: 0, Mochi: 2 },
  },
  { name: 'Birds', description: 'Early risers; some of them talk.', pets: { Kiwi: 8, Sunny: 6, Rio: 1 } },
  {
    name: 'Fish',
    description: 'Calm, colourful and easy to house.',
    pets: { Nemo: 40, Bubbles: 25, Coral: 0 },
  },
  {
    name: 'Rabbits and rodents',
    description: 'Small, soft and busy at night.',
    pets: { Thumper: 3, Nibbles: 7, Hazel: 1 },
  },
  { name: 'Reptiles', description: 'Patient animals for patient people.', pets: { Shelly: 2, Iggy: 1 } },
  { name: 'Amphibians', description: 'At home in water and on land. None here at the moment.', pets: {} },
];

/** Orders in the order of their ids. All units of Luna and Hazel are reserved, Iggy is sold. */
const orders: Order[] = [
  { petId: 1, quantity: 1, shipDate: '2026-01-12T09:00:00Z', complete: true },
  { petId: 3, quantity: 1, shipDate: '2026-02-03T14:30:00Z' },
  { petId: 13, quantity: 12, shipDate: '2026-02-20T08:15:00Z' },
  { petId: 20, quantity: 1, shipDate: '2026-03-01T10:00:00Z', complete: true },
  { petId: 10, quantity: 2 },
  { petId: 18, quantity: 1 },
  { petId: 14, quantity: 5, shipDate: '2026-03-15T16:45:00Z', complete: true },
  { quantity: 1 },
];

/** Fills an empty workspace with the demo data, whose ids are the same everywhere. It records one event. */
export async function seedWorkspace(transaction: Transaction, workspaceId: number): Promise<void> {
  const sql = unrecorded(transaction);
  for (const { name, description, pets } of categories) {
    const category = await createCategory(sql, workspaceId, { name, description });
    for (const [name, stock] of Object.entries(pets)) {
      const status = name === 'Rio' ? { status: 'pending' as const } : {};
      const pet = await createPet(sql, workspaceId, { name, categoryId: category.id, ...status });
      if (stock !== 1) await updateInventory(sql, workspaceId, pet.id, () => stock);
    }
  }
  for (const order of orders) await placeOrder(sql, workspaceId, order);
  recordEvent(transaction, workspaceId, workspaceSeeded, {});
}

/** Empties a workspace and fills it with the demo data. Throws if it was deleted meanwhile. */
export async function resetWorkspace(
  sql: Transaction,
  workspace: Pick<Workspace, 'id' | 'name'>,
): Promise<void> {
  await assertStillThere(sql, workspace);
  await clearWorkspace(sql, workspace.id);
  await seedWorkspace(sql, workspace.id);
}

/**
 * Creates the demo workspace unless it exists: a seeded workspace and a Free key. The key is stored in `demo.key` in the data
 * folder, readable by its owner alone. Several instances may start at once. Returns the key.
 */
export async function prepareDemo(db: Database, dataDir: string, nowMs: number): Promise<string> {
  const file = join(dataDir, 'demo.key');
  return db.write(
    async (sql) => {
      let workspace = await lockWorkspace(sql, demoWorkspace);
      if (!workspace) {
        workspace = await createWorkspace(sql, demoWorkspace, nowMs);
        await seedWorkspace(sql, workspace.id);
      }
      const kept = inDataDir(dataDir, () => readOwnFile(file)?.trim());
      if (kept && (await findWorkspaceOfKey(sql, kept)) === workspace.id) return kept;
      const newKey = {
        workspaceId: workspace.id,
        plan: 'free',
        label: 'demonstration',
        origin: 'demo',
      } as const;
      const { key } = await createKey(sql, newKey, nowMs);
      inDataDir(dataDir, () => replaceFile(file, `${key}\n`));
      return key;
    },
    { atMs: nowMs, workspaceId: undefined },
  );
}
