import { randomBytes } from 'node:crypto';
import { readConfig, settings } from '../config.ts';
import type { Database } from '../db/database.ts';
import { addWorkspace } from '../from-code/access.ts';
import type { Account } from '../lab/account/schema.ts';
import { type Client, LabService } from '../lab-service.ts';
import { startPetstore } from '../start-petstore.ts';
import { openStorage } from '../storage.ts';
import { deleteWorkspace, findWorkspace, thinOut } from '../workspaces/store.ts';

/** A key to a workspace of its own. */
export interface Grading extends Client {
  workspace: string;
}

/** A store that programs are graded with. */
export interface GradingStore {
  /** Makes a workspace with the content of the demonstration, the same each time, and a key to it that no limit holds up. */
  addWorkspace(): Promise<Grading>;
  /** Removes a workspace that it made. */
  removeWorkspace(workspace: string): Promise<void>;
  /** Leaves nothing behind. */
  close(): Promise<void>;
}

/** A large workspace takes its time to be removed. */
const deadlineMs = 120_000;

/** A store of its own in this process or, if the environment says where one runs, that one, whose storage it must name, too. */
export async function openGradingStore(
  env: NodeJS.ProcessEnv = process.env,
  signal?: AbortSignal,
): Promise<GradingStore> {
  return env[settings.baseUrl.variable]?.trim() ? RunningStore.open(env, signal) : ownStore();
}

/** Names of workspaces by which an operator recognizes them. */
function namer(): () => string {
  const prefix = `grade-${randomBytes(6).toString('hex')}`;
  let last = 0;
  return () => `${prefix}-${++last}`;
}

async function ownStore(): Promise<GradingStore> {
  const server = await startPetstore();
  const nextName = namer();
  return {
    async addWorkspace() {
      const access = await server.addWorkspace(nextName());
      return { ...access, baseUrl: server.baseUrl };
    },
    // They go with the store.
    removeWorkspace: async () => {},
    close: () => server.stop(),
  };
}

/** A store that others run. Workspaces are made in its storage, as commands do. */
class RunningStore implements GradingStore {
  readonly #db: Database;
  readonly #baseUrl: string;
  readonly #nextName = namer();
  readonly #made = new Set<string>();

  private constructor(db: Database, baseUrl: string) {
    this.#db = db;
    this.#baseUrl = baseUrl;
  }

  static async open(env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<RunningStore> {
    const config = readConfig(env);
    await assertLab(config.baseUrl, signal);
    const db = await openStorage(config, { deadlineMs });
    const store = new RunningStore(db, config.baseUrl);
    try {
      await store.#assertFits(signal);
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  async addWorkspace(): Promise<Grading> {
    const name = this.#nextName();
    this.#made.add(name);
    const access = await addWorkspace(this.#db, name, Date.now());
    return { ...access, baseUrl: this.#baseUrl };
  }

  async removeWorkspace(name: string): Promise<void> {
    const workspace = await findWorkspace(this.#db.read, name);
    if (workspace) {
      const cause = { atMs: Date.now(), workspaceId: workspace.id };
      await thinOut(this.#db, workspace, cause);
      await this.#db.write((sql) => deleteWorkspace(sql, workspace.id), cause);
    }
    this.#made.delete(name);
  }

  async close(): Promise<void> {
    try {
      for (const name of this.#made) await this.removeWorkspace(name);
    } finally {
      await this.#db.close();
    }
  }

  /** Throws if the service does not use this storage. */
  async #assertFits(signal?: AbortSignal): Promise<void> {
    const { workspace, ...client } = await this.addWorkspace();
    try {
      await new LabService({ ...client, ...(signal && { signal }) }).json<Account>('GET', '/account');
    } catch (error) {
      throw new Error(
        `${(error as Error).message} Programs are graded in workspaces that are made in the storage of the service, which PETSTORE_DATA_DIR or DATABASE_URL must name here, too. Without PETSTORE_BASE_URL, "grade" starts a service of its own.`,
        { cause: error },
      );
    }
    await this.removeWorkspace(workspace);
  }
}

/** Throws if there is no service, or it has no lab. Nothing is made before that is known. */
async function assertLab(baseUrl: string, signal?: AbortSignal): Promise<void> {
  const toldBy = `${settings.baseUrl.variable}, which is set,`;
  // Whoever has no key may read it.
  await new LabService({ baseUrl, key: '', toldBy, ...(signal && { signal }) }).text('GET', '/openapi.json');
}
