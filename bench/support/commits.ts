import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const count = 500;

/** Milliseconds of durable transactions of one row in `folder`, with nothing around them: what its disk asks for a commit. */
export function timeCommits(folder: string): number[] {
  const db = new DatabaseSync(join(folder, 'commits.db'));
  db.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table if not exists rows (text text)',
  );
  const insert = db.prepare('insert into rows values (?)');
  const times = Array.from({ length: count }, () => {
    const startMs = performance.now();
    insert.run('Bella');
    return performance.now() - startMs;
  });
  db.close();
  return times;
}
