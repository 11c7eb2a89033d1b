import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

export const fileAt = (path: string): string => join(root, path);

/** For `--import`: a process shares the compiled code with others. */
export const compileCache = new URL('compile-cache.js', import.meta.url).href;

/** The text of a file of the repository. */
export const textOf = (path: string): string => readFileSync(fileAt(path), 'utf8');
