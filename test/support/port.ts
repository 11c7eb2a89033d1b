import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Below the ports that systems assign to connections, and above 10080, the last that `fetch` refuses (Fetch standard, "bad port"). */
const [lowest, highest] = [10_081, 30_000];
const folder = join(tmpdir(), 'petstore-ports');

const reservations: string[] = [];
process.on('exit', () => {
  for (const file of reservations) rmSync(file, { force: true });
});

/** A port on which nothing listens. No other process of the tests gets it while this one runs. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, highest);
    if (reserve(port) && (await isFree(port))) return port;
  }
}

function reserve(port: number): boolean {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, String(port));
  try {
    writeFileSync(file, '', { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  reservations.push(file);
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
