// Values for the npm package. In the source tree, `#distribution` is tree.ts instead.

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

export { neededNode } from '../../client/needed-node.ts';

const { name } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

/** Calls the command line. */
export const command = `npx ${name}`;

/** Start the service for the first time, and later. */
export const firstStart = command;
export const start = command;

/** The environment of the user. Additions by npm belong to the user's own project, so they stay. */
export const userEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => env;

/** The folder in which the user called this program. */
export const userFolder = (_env?: NodeJS.ProcessEnv): string => process.cwd();

/** A program or a style sheet for browsers. The build bundles it into the package. */
export const browserProgram = (file: string) =>
  readFile(new URL(`../../${file.replace(/\.ts$/, '.js')}`, import.meta.url), 'utf8');
