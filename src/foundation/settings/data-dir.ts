import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
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
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StorageUnavailableError } from '../errors.ts';
import type { Environment } from './config.ts';
import { ConfigError } from './setting.ts';

/** Whether a file in the data folder belongs to the service or its commands. */
const isOurs = (file: string) =>
  /^(petstore\.db(-wal|-shm|-journal)?|service\.lock|(generation|service\.(pid|address)|(demo|secret)\.key)((\.[0-9a-f-]{36})?\.new)?)$/.test(
    file,
  );

/** SQLite opens these files by itself, and follows links. A second name of a database may corrupt it (sqlite.org/howtocorrupt.html). */
const isForSqlite = (file: string) => /^(petstore\.db|service\.lock)/.test(file) && isOurs(file);

const mayBeInEmptyFolder = (file: string) =>
  /^(lost\+found|\.gitkeep|\.gitignore(\.[0-9a-f-]{36}\.new)?)$/.test(file);

const ignoreAll = '*\n';
/** In a folder with other files, which git should still see. */
const ignoreOurs = 'petstore.db*\nservice.*\ngeneration*\ndemo.key*\nsecret.key*\n';

const folderMode = 0o700;
const fileMode = 0o600;
/** The mode bits of group and others, and those for writing. */
const others = 0o077;
const othersWrite = 0o022;

/** Runs `action`, which needs the data folder. Creates the folder if needed. Throws ConfigError that names it. */
export function inDataDir<T>(dataDir: string, action: () => T): T {
  try {
    makeFolder(dataDir);
    claimFolder(dataDir);
    return action();
  } catch (error) {
    throw aboutDataDir(dataDir, error);
  }
}

/** The warning that the database of an earlier version is in its default folder. Undefined if there is none, or a folder is set. */
export function earlierDataIn({ PETSTORE_DATA_DIR, DATABASE_URL }: Environment): string | undefined {
  if (PETSTORE_DATA_DIR?.trim() || DATABASE_URL?.trim() || !existsSync('data/petstore.db')) return undefined;
  return './data/petstore.db is from an earlier version, which used ./data. Now the default is ./petstore-data. To continue with the earlier data, set PETSTORE_DATA_DIR=./data.';
}

/** Adds the data folder and advice to a failure of the storage. Returns any other error unchanged. */
export function aboutDataDir(dataDir: string, error: unknown): unknown {
  const begins = `PETSTORE_DATA_DIR ${dataDir} cannot be used: `;
  const isFileError = (error as { syscall?: string } | null)?.syscall !== undefined;
  if (!isFileError && !(error instanceof StorageUnavailableError)) return error;
  const { message } = error as Error;
  // Messages of the system and of SQLite give no advice.
  const said = message.endsWith('.') ? message : `${message}. Correct this, or choose another folder.`;
  return new ConfigError(begins + (isFull(dataDir, error) ? fullDisk : said), { cause: error });
}

const fullDisk = 'The disk is full. Free some space, or choose another folder.';
/** SQLite needs more free bytes than this to start. It reports some failures on a full disk as I/O errors. */
const leastBytes = 128 * 1024;
const [sqliteFull, sqliteIoError] = [13, 10];

/** Whether an error, or its cause, comes from a full disk or a used-up disk quota. */
function isFull(dataDir: string, error: unknown): boolean {
  const { code = '', errcode = 0, cause } = (error ?? {}) as NodeJS.ErrnoException & { errcode?: number };
  if (['ENOSPC', 'EDQUOT'].includes(code) || (errcode & 0xff) === sqliteFull) return true;
  if ((errcode & 0xff) === sqliteIoError && freeBytes(dataDir) < leastBytes) return true;
  return cause !== undefined && isFull(dataDir, cause);
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Refuses a folder that is not ours or not safe. Closes it to other users and hides it from git. */
function claimFolder(dataDir: string): void {
  const entries = readdirSync(dataDir);
  const ignoreFile = join(dataDir, '.gitignore');
  const hasOnlyOurs = entries.every((entry) => isOurs(entry) || mayBeInEmptyFolder(entry));
  const isOlder = entries.includes('petstore.db') || entries.includes('demo.key');
  // An interrupted first start leaves only our files. Projects keep an empty folder by a .gitignore that hides all else.
  const isNew = hasOnlyOurs && /^\*$/m.test(readPlainFile(ignoreFile) ?? ignoreAll);
  if (!isNew && !isOlder) refuse('It contains other files. Use a new folder in it,');
  for (const file of entries.filter(isForSqlite)) {
    const stat = lstatSync(join(dataDir, file), { throwIfNoEntry: false });
    if (stat && (!stat.isFile() || stat.nlink > 1))
      refuse(`${file} is a link, or not a file. Put the file itself there,`);
  }
  closeToOthers(dataDir, hasOnlyOurs ? entries : entries.filter(isOurs), hasOnlyOurs);
  if (entries.includes('.gitignore')) return;
  try {
    replaceFile(ignoreFile, hasOnlyOurs ? ignoreAll : ignoreOurs);
  } catch {
    // If other files are to be written, they report the reason. A folder that is only read needs none.
  }
}

function refuse(reason: string): never {
  throw new StorageUnavailableError(`${reason} or choose another folder.`);
}

/**
 * Removes the rights of other users to our files, and to the folder unless it has another owner or other files, as /tmp does. Warns once if
 * others can still change our files. Refuses a folder of another user, except root, that more users can write to.
 */
function closeToOthers(dataDir: string, ours: string[], hasOnlyOurs: boolean): void {
  if (!process.geteuid) return; // Windows has no modes.
  const { uid, mode } = statSync(dataDir);
  const isOthers = ![process.geteuid(), 0].includes(uid);
  if (isOthers && (mode & othersWrite) !== 0)
    refuse('It belongs to another user, and others can write to it. Make it your own,');
  const paths = ours.map((entry) => join(dataDir, entry));
  // The target of a link may be anywhere, so it is left alone.
  const files = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());
  for (const file of files) restrict(file, fileMode);
  if (!isOthers && hasOnlyOurs) restrict(dataDir, folderMode);
  const isOpen = isOthers || [dataDir, ...files].some((path) => (modeOf(path) & othersWrite) !== 0);
  if (!isOpen || warnedFolders.has(dataDir)) return;
  warnedFolders.add(dataDir);
  console.error(
    `petstore: Other users may change the files in PETSTORE_DATA_DIR ${dataDir}. Give the service its own folder.`,
  );
}

const warnedFolders = new Set<string>();

/** Only removes rights, so that a file that its owner made read-only stays read-only. */
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

/** Creates an empty file that only its owner can read, unless it exists. SQLite creates its other files with the same mode. */
export function ensureFile(path: string): void {
  try {
    closeSync(createFile(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Replaces a file or a link, in one step, by a new file that only its owner can read. */
export const replaceFile = (path: string, text: string): void =>
  writeBeside(path, text, (fresh) => renameSync(fresh, path));

/** Creates a file that only its owner can read, unless it exists. It survives a power cut once this returns. */
export function createOnce(path: string, text: string): void {
  try {
    // Unlike rename, link replaces nothing.
    writeBeside(path, text, (fresh) => linkSync(fresh, path));
    syncFolder(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Writes a new file beside `path`, which `place` moves or links there. */
function writeBeside(path: string, text: string, place: (fresh: string) => void): void {
  const fresh = `${path}.${randomUUID()}.new`;
  try {
    const file = createFile(fresh);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    place(fresh);
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Makes the names in a folder survive a power cut. Windows does this by itself and cannot open a folder. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Opens a new file. Fails if it exists, also as a link. Ignores the umask. */
function createFile(path: string): number {
  const file = openSync(path, 'wx', fileMode);
  fchmodSync(file, fileMode);
  return file;
}

/** The text of a plain file of this user. Undefined if there is none, or if it belongs to another user. */
export function readOwnFile(path: string): string | undefined {
  return readPlainFile(path, (uid) => !process.geteuid || uid === process.geteuid());
}

/** The text of a plain file whose owner `isFine` accepts, by default anyone. Undefined if there is none. */
export function readPlainFile(path: string, isFine = (_uid: number) => true): string | undefined {
  const file = openToRead(path);
  if (file === undefined) return undefined;
  try {
    const stat = fstatSync(file);
    return stat.isFile() && isFine(stat.uid) ? readFileSync(file, 'utf8') : undefined;
  } finally {
    closeSync(file);
  }
}

function openToRead(path: string): number | undefined {
  // Windows has neither flag. Without O_NONBLOCK, opening a pipe would wait for a writer.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ELOOP', 'EACCES'].includes(code)) return undefined;
    throw error;
  }
}

/** Like mkdir -p, with mode 0700. `recursive` of Node.js never returns if the system answers ENOENT, as in /proc on Linux. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, folderMode);
    chmodSync(path, folderMode);
  } catch (error) {
    // Another process may have created it.
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
