import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The context of a test, or for a test file `{ after }` of `node:test`. */
export interface Lifetime {
  after(work: () => unknown): void;
}

/** An empty folder that is removed when the test ends. */
export function temporaryFolder(t: Lifetime, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'petstore-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A file system in memory. */
const memory = '/dev/shm';
const roomBytes = 2 ** 30;

/** In memory if it has room. Otherwise all tests would wait for one disk. */
export function dataPlace(): string {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > roomBytes ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}
