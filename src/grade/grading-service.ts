import { randomBytes } from 'node:crypto';
import { openStorage } from '../db/open.ts';
import { readConfig, settings } from '../foundation/settings/config.ts';
import { petstoreApi } from '../lab/petstore/petstore-api.ts';
import type { TargetApi } from '../lab/target-api.ts';
import { addWorkspace } from '../service/start/from-code/access.ts';
import { assertLab, type ServiceAccess, withService } from '../service/start/running-service.ts';
import { startPetstoreOn } from '../service/start/start-petstore.ts';
import { deleteInBatches, deleteWorkspace, findWorkspace } from '../store/workspaces/store.ts';

/** A pet store for graded programs. */
export interface GradingService {
  /** Its API, as the lab sees it. */
  api: TargetApi;
  /** Works in a new workspace with the demo data and a key without reachable limits. Deletes the workspace afterwards. */
  inWorkspace<T>(work: (access: ServiceAccess) => Promise<T>): Promise<T>;
  /** Deletes all workspaces of `inWorkspace`, and releases the store. */
  close(): Promise<void>;
}

/** Deleting a large workspace takes long. */
const deadlineMs = 120_000;

/** Starts a store that listens on `host`. Or uses the service at PETSTORE_BASE_URL, if the environment names its storage. */
export const openGradingService = (
  env: NodeJS.ProcessEnv = process.env,
  signal?: AbortSignal,
  host?: string,
): Promise<GradingService> =>
  env[settings.baseUrl.variable]?.trim() ? useRunningService(env, signal) : startOwnStore(host);

/** Makes the name of a workspace, such as `grade-0a1b2c3d4e5f`. */
const newName = () => `grade-${randomBytes(6).toString('hex')}`;

async function startOwnStore(host?: string): Promise<GradingService> {
  const server = await startPetstoreOn(host);
  return {
    api: petstoreApi,
    // The store deletes its workspaces when it stops.
    inWorkspace: async (work) => work({ ...(await server.addWorkspace(newName())), baseUrl: server.baseUrl }),
    close: () => server.stop(),
  };
}

/** Creates workspaces directly in the storage of a running service. Throws if the service does not use this storage. */
async function useRunningService(env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<GradingService> {
  const config = readConfig(env);
  const { baseUrl } = config;
  const stoppable = signal && { signal };
  // Checked before anything is created in the storage.
  await assertLab({ baseUrl, addressSetBy: settings.baseUrl.variable, ...stoppable });
  const db = await openStorage(config, { deadlineMs });
  const made = new Set<string>();

  async function remove(name: string): Promise<void> {
    const workspace = await findWorkspace(db.read, name);
    if (workspace) {
      const cause = { atMs: Date.now(), workspaceId: workspace.id };
      await deleteInBatches(db, workspace, cause);
      await db.write((sql) => deleteWorkspace(sql, workspace.id), cause);
    }
    made.delete(name);
  }

  const service: GradingService = {
    api: petstoreApi,
    async inWorkspace(work) {
      const name = newName();
      made.add(name);
      try {
        return await work({ ...(await addWorkspace(db, name, Date.now())), baseUrl });
      } finally {
        await remove(name);
      }
    },
    async close() {
      try {
        for (const name of made) await remove(name);
      } finally {
        await db.close();
      }
    },
  };
  try {
    await service.inWorkspace((access) =>
      withService({ ...access, ...stoppable }, ({ lab }) => lab.getAccount()),
    );
    return service;
  } catch (error) {
    await service.close();
    throw new Error(
      `${(error as Error).message} "grade" creates workspaces in the storage of the service: set PETSTORE_DATA_DIR or DATABASE_URL to the same storage. Without PETSTORE_BASE_URL, "grade" starts its own service.`,
      { cause: error },
    );
  }
}
