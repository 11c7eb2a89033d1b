// The npm package, which is built with this file in place of tree.ts.

import { readFile } from 'node:fs/promises';

/** The oldest Node.js that will do. */
export const neededNode = 24;

/** How the command line is called. */
export const command = 'npx petstore';

/** How the service is started for the first time, and how later. */
export const firstStart = 'npx petstore serve';
export const start = firstStart;

/** Scalar's program for the browser, which the package carries along. */
export const scalarProgram = () => readFile(new URL('scalar.js', import.meta.url), 'utf8');

/** A program or a style sheet for browsers, which the package carries along. */
export const browserProgram = (file: string) =>
  readFile(new URL(`../${file.replace(/\.ts$/, '.js')}`, import.meta.url), 'utf8');
