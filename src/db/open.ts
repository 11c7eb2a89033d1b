import type { Config } from '../config.ts';
import type { Database } from './database.ts';
import { openSqlite } from './sqlite.ts';

/** Opens the storage that the configuration names. */
export const openStorage = (config: Pick<Config, 'dataDir'>): Promise<Database> => openSqlite(config.dataDir);
