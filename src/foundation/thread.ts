import { extname } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a thread of a module, named by its TypeScript file. The package contains JavaScript instead. The thread gets no options of
 * Node.js, because some (`--eval`, `--input-type`) keep a module from running.
 */
export const startThread = ({ href }: URL, options: WorkerOptions = {}): Worker =>
  new Worker(new URL(href.replace(/\.ts$/, extname(import.meta.url))), { execArgv: [], ...options });
