import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
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
  /^(petstore\.db(-wal|-shm|-journal)?|service\.lock|(service\.pid|demo\.key)(\.new)?)$/.test(file);

const folderMode = 0o700;
const fileMode = 0o600;
/** What a mode lets group and others do, and which of that changes a folder. */
const others = 0o077;
const othersWrite = 0o022;

/** Does what needs the data folder, which is made as needed. Throws StorageUnavailableError that names it. */
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
 * Takes from other users what they may do with our files in the data folder, and with the folder itself unless it is not
 * ours or holds something else, too, as /tmp and a home do. Tells on standard error, once, where others can still change
 * what is ours.
 */
export function closeToOthers(dataDir: string): void {
  if (!process.geteuid) return; // Windows knows no modes.
  const entries = readdirSync(dataDir);
  const paths = entries.filter(isOurs).map((entry) => join(dataDir, entry));
  // What a link leads to is somewhere else, and none of our business.
  const files = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());
  for (const file of files) restrict(file, fileMode);
  const isOthers = ![process.geteuid(), 0].includes(statSync(dataDir).uid);
  if (!isOthers && entries.every(isOurs)) restrict(dataDir, folderMode);
  const isOpen = isOthers || [dataDir, ...files].some((path) => (modeOf(path) & othersWrite) !== 0);
  if (!isOpen || told.has(dataDir)) return;
  told.add(dataDir);
  console.error(
    `petstore: Other users may change what is in PETSTORE_DATA_DIR ${dataDir}. Give it a folder that is its own.`,
  );
}

/** Folders that others can change, and that were told of. */
const told = new Set<string>();

/** Takes rights away and never adds one, so that what its owner made read-only stays so. */
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

/** 0 for what has gone away. */
const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;

/** Makes an empty file that is its owner's alone, unless there is one. SQLite gives its mode to the files beside it. */
export function ensureFile(path: string): void {
  try {
    closeSync(createFile(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Puts a new file that is its owner's alone in the place of an old one, or of a link, in one step. */
export function replaceFile(path: string, text: string): void {
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  const file = createFile(fresh);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
}

/** Opens a file that did not exist, not even as a link. The umask does not count. */
function createFile(path: string): number {
  const file = openSync(path, 'wx', fileMode);
  fchmodSync(file, fileMode);
  return file;
}

/** What stands in a file of this very user. Undefined where there is none, or something that another may have put there. */
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
  // Windows has neither flag. Without the second one a pipe would be waited for.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ELOOP', 'EACCES'].includes(code)) return undefined;
    throw error;
  }
}

/** As mkdir -p, for the owner alone. That of Node.js never ends where a folder is refused by ENOENT, as Linux does in /proc. */
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
