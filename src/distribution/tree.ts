// The tree, which runs as it is. The npm package is built with package.ts beside this file.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The oldest Node.js that will do: it hands over to the one that npm installs. */
export const neededNode = 20;

/** How the command line is called. */
export const command = 'npm run -s petstore --';

/** How the service is started for the first time, and how later. */
export const firstStart = 'npm ci && npm start';
export const start = 'npm start';

/** Scalar's program for the browser, out of its plugin for Fastify, a module of 4 MB. */
export async function scalarProgram(): Promise<string> {
  const [{ default: scalar }, { default: fastify }] = await Promise.all([
    import('@scalar/fastify-api-reference'),
    import('fastify'),
  ]);
  const host = fastify();
  await host.register(scalar, { routePrefix: '/', configuration: { url: '/' } });
  const { statusCode, body } = await host.inject('/js/scalar.js');
  await host.close();
  if (statusCode !== 200) throw new Error(`The plugin answers ${statusCode} where its program was.`);
  return body;
}

const run = promisify(execFile);
const maxBytes = 16 * 1024 * 1024;

/**
 * A program or a style sheet for browsers: a file of `src` with all that it imports, as one, by esbuild. Its package for all platforms runs
 * a script while it is installed, and those of single platforms, which hold the program, do not.
 */
export async function browserProgram(file: string): Promise<string> {
  const esbuild = esbuildProgram();
  const entry = fileURLToPath(new URL(`../${file}`, import.meta.url));
  // Licences of what is brought along stand at the end.
  const options = ['--bundle', '--minify', '--format=esm', '--target=es2024', '--legal-comments=eof'];
  const { stdout } = await run(esbuild, [entry, ...options, '--log-level=error'], { maxBuffer: maxBytes });
  return stdout;
}

function esbuildProgram(): string {
  const { platform, arch } = process;
  const name = platform === 'win32' ? 'esbuild.exe' : 'bin/esbuild';
  const ofPlatform = `@esbuild/${platform}-${arch}`;
  try {
    return fileURLToPath(import.meta.resolve(`${ofPlatform}/${name}`));
  } catch (cause) {
    throw new Error(
      `The programs of the pages are made by esbuild, and its package ${ofPlatform} is missing. Install it by "npm ci", with optional dependencies.`,
      { cause },
    );
  }
}
