// Values for the npm package. In the source tree, `#distribution` is tree.ts instead.

import { readFile } from 'node:fs/promises';

/** The oldest supported major version of Node.js. */
export const neededNode = 24;

/** Calls the command line. Without the option npx would install a foreign package of this name from npm. */
export const command = 'npx --no-install petstore';

/** Start the service for the first time, and later. */
export const firstStart = `${command} serve`;
export const start = firstStart;

/** The environment of the user. Additions by npm belong to the user's own project, so they stay. */
export const userEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => env;

/** The folder in which the user called this program. */
export const userFolder = (_env?: NodeJS.ProcessEnv): string => process.cwd();

/** A program or a style sheet for browsers. The build bundles it into the package. */
export const browserProgram = (file: string) =>
  readFile(new URL(`../../${file.replace(/\.ts$/, '.js')}`, import.meta.url), 'utf8');
