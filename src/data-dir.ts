import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StorageUnavailableError } from './errors.ts';

/** What the service and its commands keep in the data folder. */
const isOurs = (file: string) =>
  /^(petstore\.db(-wal|-shm|-journal)?|service\.lock|(service\.pid|demo\.key)(\.new)?|secret\.key(\.[0-9a-f-]{36}\.new)?)$/.test(
    file,
  );

const folderMode = 0o700;
const fileMode = 0o600;
/** The mode bits of group and others, and those that allow changing a folder. */
const others = 0o077;
const othersWrite = 0o022;

/** Runs work that needs the data folder, and creates the folder if needed. Throws StorageUnavailableError that names it. */
export function inDataDir<T>(dataDir: string, action: () => T): T {
  try {
    makeFolder(dataDir);
    return action();
  } catch (error) {
    const isFileError = (error as { syscall?: string } | null)?.syscall !== undefined;
    if (!isFileError && !(error instanceof StorageUnavailableError)) throw error;
    throw new StorageUnavailableError(
      `PETSTORE_DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/**
 * Removes the rights of other users to our files in the data folder. Removes those to the folder, too, unless it belongs
 * to another user or holds other files, as /tmp and a home do. If others can still change our files, it says so once on
 * standard error.
 */
export function closeToOthers(dataDir: string): void {
  if (!process.geteuid) return; // Windows has no modes.
  const entries = readdirSync(dataDir);
  const paths = entries.filter(isOurs).map((entry) => join(dataDir, entry));
  // The target of a link may be anywhere, so it is left alone.
  const files = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());
  for (const file of files) restrict(file, fileMode);
  const isOthers = ![process.geteuid(), 0].includes(statSync(dataDir).uid);
  if (!isOthers && entries.every(isOurs)) restrict(dataDir, folderMode);
  const isOpen = isOthers || [dataDir, ...files].some((path) => (modeOf(path) & othersWrite) !== 0);
  if (!isOpen || told.has(dataDir)) return;
  told.add(dataDir);
  console.error(
    `petstore: Other users may change what is in PETSTORE_DATA_DIR ${dataDir}. Give the service a folder of its own.`,
  );
}

/** Folders that others can change and that a warning has named. */
const told = new Set<string>();

/** Only removes rights, so that what its owner made read-only stays read-only. */
function restrict(path: string, mode: number): void {
  const current = modeOf(path);
  if ((current & others) === 0) return;
  try {
    chmodSync(path, current & mode);
  } catch (error) {
    // It belongs to another user, or another process has removed it meanwhile.
    if (!['EPERM', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** 0 if it no longer exists. */
const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;

/** Creates an empty file that only its owner can read, unless it exists. SQLite gives its mode to the files beside it. */
export function ensureFile(path: string): void {
  try {
    closeSync(createFile(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Replaces a file or a link, in one step, by a new file that only its owner can read. */
export function replaceFile(path: string, text: string): void {
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  writeFresh(fresh, text);
  renameSync(fresh, path);
}

/**
 * Creates a file that only its owner can read, in one step, unless there is one. Of several processes that do it at once,
 * one creates it for all. It outlives a power cut as soon as this returns.
 */
export function createOnce(path: string, text: string): void {
  const fresh = `${path}.${randomUUID()}.new`;
  try {
    writeFresh(fresh, text);
    // Unlike renaming, it replaces nothing.
    linkSync(fresh, path);
    syncFolder(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

function writeFresh(path: string, text: string): void {
  const file = createFile(path);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes the names in a folder outlive a power cut. Windows does so by itself, and opens no folder. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Opens a file that did not exist, not even as a link. The umask does not count. */
function createFile(path: string): number {
  const file = openSync(path, 'wx', fileMode);
  fchmodSync(file, fileMode);
  return file;
}

/** The text of a plain file of this user. Undefined if there is none, or if another user may have put it there. */
export function readOwnFile(path: string): string | undefined {
  const file = openToRead(path);
  if (file === undefined) return undefined;
  try {
    const stat = fstatSync(file);
    const isOwn = stat.isFile() && (!process.geteuid || stat.uid === process.geteuid());
    return isOwn ? readFileSync(file, 'utf8') : undefined;
  } finally {
    closeSync(file);
  }
}

function openToRead(path: string): number | undefined {
  // Windows has neither flag. Without the second one, opening a pipe would wait for a writer.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ELOOP', 'EACCES'].includes(code)) return undefined;
    throw error;
  }
}

/** As mkdir -p, with mode 0700. The one in Node.js never returns if creating a folder fails with ENOENT, as in /proc on Linux. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, folderMode);
    chmodSync(path, folderMode);
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
