import { type ClientConfig, DatabaseError } from 'pg';
import { StorageUnavailableError } from '../errors.ts';
import { migratePostgres } from './postgres-migrate.ts';
import { fitPooler, type Limits } from './postgres-pooler.ts';

/**
 * Checks that a database can be used, and brings its tables up to date. Returns the settings of connections to it. Throws
 * StorageUnavailableError that names DATABASE_URL, or a plain Error if the database is newer than this code.
 */
export async function startPostgres<T extends ClientConfig>(settings: T, limits: Limits): Promise<T> {
  try {
    const accepted = await fitPooler(settings, limits);
    await migratePostgres(accepted, limits);
    return accepted;
  } catch (error) {
    if (!(error instanceof DatabaseError || error instanceof StorageUnavailableError)) throw error;
    throw new StorageUnavailableError(`DATABASE_URL cannot be used: ${error.message}`, { cause: error });
  }
}
