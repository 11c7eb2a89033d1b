import { Command, InvalidArgumentError, Option } from 'commander';
import type { Sql } from '../db/sql.ts';
import { type Counted, contentKinds } from '../db/tables.ts';
import { grouped } from '../foundation/words.ts';
import {
  createWorkspace,
  deleteInBatches,
  deleteWhole,
  findWorkspace,
  isWorkspaceName,
  listWorkspaces,
  type Workspace,
  workspaceNameRule,
} from '../store/workspaces/store.ts';
import { withStorage } from './storage.ts';
import { confirm, isoTime, printFields, printRows, progressLine } from './terminal.ts';

/** The option to skip a confirmation. */
export const yes = () =>
  new Option(
    '--yes',
    'do not ask for confirmation. Required at a terminal if the output is redirected. Scripts are never asked',
  );

export function workspacesCommand(): Command {
  const workspaces = new Command('workspaces').description(
    'Create, list, reset and delete workspaces. Each has its own pets, orders and ids. A key gives access to one workspace.',
  );

  workspaces
    .command('create')
    .description('Create a workspace, empty or with the demo data.')
    .argument('<name>', 'name of the workspace', parseName)
    .option('--seed', 'fill it with the demo data')
    .option('--json', 'print JSON')
    .action(async (name, options) => {
      const { seedWorkspace } = await import('../store/demo/seed.ts');
      const { id, createdAtMs } = await withStorage((db) =>
        db.write(async (sql) => {
          if (await findWorkspace(sql, name)) throw new Error(`The workspace ${name} already exists.`);
          const workspace = await createWorkspace(sql, name, Date.now());
          if (options.seed) await seedWorkspace(sql, workspace.id);
          return workspace;
        }, cause()),
      );
      printFields({ id, name, createdAt: isoTime(createdAtMs) }, options.json);
    });

  workspaces
    .command('list')
    .description('List all workspaces and what they contain.')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const all = await withStorage((db) => listWorkspaces(db.read));
      printRows(
        all.map(({ createdAtMs, ...fields }) => ({ ...fields, createdAt: isoTime(createdAtMs) })),
        options.json,
      );
    });

  workspaces
    .command('reset')
    .description('Remove everything in a workspace and fill it with the demo data. Its keys remain valid.')
    .argument('<name>', 'name of the workspace')
    .addOption(yes())
    .action(async (name, options) => {
      // Loaded on demand, so that other commands start fast.
      const { resetWorkspace } = await import('../store/demo/seed.ts');
      await withStorage(async (db) => {
        const workspace = await workspaceNamed(db.read, name);
        if (!options.yes) {
          const lost = await contentOf(db.read, name, contentKinds);
          await confirm(`Replace everything in workspace ${name} (${lost}) with the demo data?`);
        }
        const progress = deletedRows();
        await deleteInBatches(db, workspace, cause(workspace.id), progress.add).finally(progress.end);
        await db.write((sql) => resetWorkspace(sql, workspace), cause(workspace.id));
      });
      console.log(`Workspace ${name} has the demo data again.`);
    });

  workspaces
    .command('delete')
    .description('Delete a workspace with all its content and keys.')
    .argument('<name>', 'name of the workspace')
    .addOption(yes())
    .action(async (name, options) => {
      await withStorage(async (db) => {
        const workspace = await findWorkspace(db.read, name);
        if (!workspace)
          throw new Error(`There is no workspace ${name}. "workspaces list" shows all workspaces.`);
        if (!options.yes)
          await confirm(`Delete workspace ${name} with its content (${await contentOf(db.read, name)})?`);
        const progress = deletedRows();
        await deleteWhole(db, workspace, Date.now(), progress.add).finally(progress.end);
      });
      console.log(`Workspace ${name} is deleted.`);
    });

  return workspaces;
}

/** The counts of a workspace as text, such as `pets: 20, orders: 8`. */
async function contentOf(sql: Sql, name: string, some?: readonly Counted[]): Promise<string> {
  const [{ id, name: _, createdAtMs, ...counts } = {}] = await listWorkspaces(sql, name);
  const held = Object.entries(counts).filter(([countedAs]) => !some || some.some((one) => one === countedAs));
  return held.map(([countedAs, count]) => `${countedAs}: ${count}`).join(', ');
}

/** Shows how many rows were deleted so far. */
function deletedRows(): { add(rows: number): void; end(): void } {
  const { show, end } = progressLine();
  let deleted = 0;
  return {
    add(rows) {
      deleted += rows;
      if (rows > 0) show(`rows deleted: ${grouped(deleted)}`);
    },
    end,
  };
}

/** The write context of a command. */
const cause = (workspaceId?: number) => ({ atMs: Date.now(), workspaceId });

/** The workspace with this name. Throws if there is none. */
export async function workspaceNamed(sql: Sql, name: string): Promise<Workspace> {
  const workspace = await findWorkspace(sql, name);
  if (!workspace) throw new Error(`There is no workspace ${name}. "workspaces create ${name}" creates it.`);
  return workspace;
}

function parseName(text: string): string {
  if (!isWorkspaceName(text)) throw new InvalidArgumentError(`It must be ${workspaceNameRule}.`);
  return text;
}
