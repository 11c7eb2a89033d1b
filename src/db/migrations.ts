import { readdirSync, readFileSync } from 'node:fs';

export type Engine = 'sqlite' | 'postgres';

export interface Migration {
  version: number;
  sql: string;
}

const folder = new URL('./migrations/', import.meta.url);

/** Reads migrations such as `0001-add-orders.sqlite.sql`. Returns a function: the ones that a version needs. */
export function pendingMigrations(engine: Engine): (version: number) => Migration[] {
  const all = readdirSync(folder)
    .filter((file) => file.endsWith(`.${engine}.sql`))
    .sort()
    .map((file, i) => {
      const version = Number(file.slice(0, 4));
      if (version !== i + 1) throw new Error(`Migration ${file} must have the number ${i + 1}.`);
      return { version, sql: readFileSync(new URL(file, folder), 'utf8') };
    });
  return (version) => {
    if (version > all.length) {
      throw new Error(
        `The database has version ${version}, this Petstore knows versions up to ${all.length}. Run a newer Petstore on it.`,
      );
    }
    return all.slice(version);
  };
}
