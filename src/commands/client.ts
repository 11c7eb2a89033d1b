import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { clientKeyVariable, readConfig } from '../config.ts';
import { readOwnFile } from '../data-dir.ts';
import type { Client } from '../lab-service.ts';

/** Adds the options by which a command is told where the service is, and with which key it asks. */
export const withClientOptions = <C extends Command>(command: C) =>
  command
    .option('--key <key>', `API key; by default ${clientKeyVariable}, or the key of the demonstration`)
    .option('--url <url>', 'where the API is; by default PETSTORE_BASE_URL, or this machine', parseUrl);

/** Where the service is and the key to it, from the options of a command and what stands in for them. Throws if there is no key. */
export function readClient(options: { key?: string; url?: URL }): Client {
  const { baseUrl, dataDir } = readConfig(process.env);
  const key =
    options.key || process.env[clientKeyVariable]?.trim() || readOwnFile(join(dataDir, 'demo.key'))?.trim();
  if (!key) {
    throw new Error(`There is no API key. Give --key or ${clientKeyVariable}; "keys create" makes one.`);
  }
  return { baseUrl: options.url?.href.replace(/\/$/, '') ?? baseUrl, key, toldBy: '--url' };
}

export function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It must be an http or https address.');
  return url;
}
