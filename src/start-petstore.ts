import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from './config.ts';
import type { Database } from './db/database.ts';
import { seedWorkspace } from './demo/seed.ts';
import { createKey } from './keys/store.ts';
import type { Plan, Quota } from './limits/plans.ts';
import { createLogger } from './log/logger.ts';
import { installationKey } from './secret-key.ts';
import { freePort, startService } from './service.ts';
import { openStorage } from './storage.ts';
import { createWorkspace } from './workspaces/store.ts';

export interface StartOptions {
  /** Port to listen on; 0, the default, picks a free one. */
  port?: number;
  /** Folder that keeps the data. Without it, nothing outlives the store. */
  dataDir?: string;
}

export interface WorkspaceOptions {
  /** Whether it begins with the content of the demonstration; it does by default. */
  seed?: boolean;
  /** Plan of the key; `free` by default. */
  plan?: Plan;
  /** Requests per minute and per day, of an `enterprise` key. */
  quota?: Quota;
}

/** A workspace, and a key to it. */
export interface Access {
  workspace: string;
  key: string;
}

/** A store that runs in this process. */
export interface PetstoreServer {
  /** Where the API is; it ends in `/v1`. */
  readonly baseUrl: string;
  /** Makes a workspace and a key to it. */
  addWorkspace(name: string, options?: WorkspaceOptions): Promise<Access>;
  stop(): Promise<void>;
}

/** Starts a store in this process. It writes nothing to the console and listens to no signal. */
export async function startPetstore({ port = 0, dataDir }: StartOptions = {}): Promise<PetstoreServer> {
  const host = '127.0.0.1';
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'petstore-')));
  const config = readConfig({
    PORT: String(port || (await freePort(host))),
    HOST: host,
    PETSTORE_DATA_DIR: folder,
    PETSTORE_DEMO: 'off',
    PETSTORE_LAB: 'on',
  });
  const db = await openStorage(config, { isService: true });
  const log = createLogger('silent', { write() {} });
  const clock = Date.now;
  const service = await startService({ config, db, key: installationKey(config), log, clock });
  return {
    baseUrl: config.baseUrl,
    addWorkspace: (name, options) => addWorkspace(db, name, clock(), options),
    async stop() {
      await service.stop();
      if (dataDir === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Makes a workspace and a key to it in one transaction. Its name must be free. */
export function addWorkspace(
  db: Database,
  name: string,
  nowMs: number,
  { seed = true, plan = 'free', quota }: WorkspaceOptions = {},
): Promise<Access> {
  return db.write(
    async (sql) => {
      const { id } = await createWorkspace(sql, name, nowMs);
      if (seed) await seedWorkspace(sql, id);
      const { key } = await createKey(sql, { workspaceId: id, plan, ...(quota && { quota }) }, nowMs);
      return { workspace: name, key };
    },
    { atMs: nowMs, workspaceId: undefined },
  );
}
