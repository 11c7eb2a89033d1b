import { randomBytes } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { openStorage } from '../db/open.ts';
import { readConfig, settings } from '../foundation/settings/config.ts';
import { petstoreApi } from '../lab/petstore/petstore-api.ts';
import type { TargetApi } from '../lab/target-api.ts';
import { addWorkspace } from '../service/start/from-code/access.ts';
import { assertLab, type ServiceAccess, withService } from '../service/start/running-service.ts';
import { startPetstoreOn } from '../service/start/start-petstore.ts';
import { deleteInBatches, deleteWorkspace, findWorkspace } from '../store/workspaces/store.ts';

/** A workspace for one run, and a key to it. */
export interface Grading extends ServiceAccess {
  workspace: string;
}

/** A pet store for graded programs. */
export interface GradingService {
  /** Its API, as the lab sees it. */
  api: TargetApi;
  /** Creates a workspace with the same demo data each time, and a key whose limits no program reaches. */
  addWorkspace(): Promise<Grading>;
  /** Deletes a workspace that `addWorkspace` created. */
  removeWorkspace(workspace: string): Promise<void>;
  /** Deletes all workspaces that `addWorkspace` created, and releases the store. */
  close(): Promise<void>;
}

/** Deleting a large workspace takes long. */
const deadlineMs = 120_000;

/**
 * Starts a store in this process that listens on `host`. If PETSTORE_BASE_URL is set, it uses that service, and the environment must also
 * name its storage.
 */
export async function openGradingService(
  env: NodeJS.ProcessEnv = process.env,
  signal?: AbortSignal,
  host?: string,
): Promise<GradingService> {
  return env[settings.baseUrl.variable]?.trim() ? RunningService.open(env, signal) : ownStore(host);
}

/** Returns a function that makes names of workspaces, such as `grade-0a1b2c3d4e5f-1`. */
function namer(): () => string {
  const prefix = `grade-${randomBytes(6).toString('hex')}`;
  let last = 0;
  return () => `${prefix}-${++last}`;
}

async function ownStore(host?: string): Promise<GradingService> {
  const server = await startPetstoreOn(host);
  const nextName = namer();
  return {
    api: petstoreApi,
    async addWorkspace() {
      const access = await server.addWorkspace(nextName());
      return { ...access, baseUrl: server.baseUrl };
    },
    // The store deletes its workspaces when it stops.
    removeWorkspace: async () => {},
    close: () => server.stop(),
  };
}

/** A running service. Workspaces are created directly in its storage. */
class RunningService implements GradingService {
  readonly api = petstoreApi;
  readonly #db: Database;
  readonly #baseUrl: string;
  readonly #nextName = namer();
  readonly #made = new Set<string>();

  private constructor(db: Database, baseUrl: string) {
    this.#db = db;
    this.#baseUrl = baseUrl;
  }

  static async open(env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<RunningService> {
    const config = readConfig(env);
    const addressSetBy = settings.baseUrl.variable;
    // Checked before anything is created in the storage.
    await assertLab({ baseUrl: config.baseUrl, addressSetBy, ...(signal && { signal }) });
    const db = await openStorage(config, { deadlineMs });
    const store = new RunningService(db, config.baseUrl);
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
      await deleteInBatches(this.#db, workspace, cause);
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
    const { workspace, ...access } = await this.addWorkspace();
    try {
      await withService({ ...access, ...(signal && { signal }) }, ({ lab }) => lab.getAccount());
    } catch (error) {
      throw new Error(
        `${(error as Error).message} "grade" creates workspaces in the storage of the service: set PETSTORE_DATA_DIR or DATABASE_URL to the same storage. Without PETSTORE_BASE_URL, "grade" starts its own service.`,
        { cause: error },
      );
    }
    await this.removeWorkspace(workspace);
  }
}
