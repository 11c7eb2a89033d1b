import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { start } from '#distribution';
import { clientKeyVariable, type Environment, readConfig, settings } from '../foundation/settings/config.ts';
import { readOwnFile } from '../foundation/settings/data-dir.ts';
import {
  challengeField,
  isProof,
  localUrl,
  newChallenge,
  readServiceAddress,
} from '../foundation/settings/service-address.ts';
import type { ServiceAccess } from '../service/start/running-service.ts';

const proofTimeoutMs = 10_000;
const maxProofBytes = 4_096;

/** Adds the options `--key` and `--url` to a command. */
export const withServiceOptions = <C extends Command>(command: C) =>
  command
    .option('--key <key>', `API key; by default ${clientKeyVariable}, or the demo key`)
    .option(
      '--url <url>',
      'address of the API; by default PETSTORE_BASE_URL, or PORT on this machine, or the service that runs with the data folder',
      parseUrl,
    );

/** The address and the key, from options or their defaults. Throws without either: a key is never sent to a guessed address. */
export async function readAccess(options: { key?: string; url?: URL }): Promise<ServiceAccess> {
  const { dataDir } = readConfig(process.env);
  const key =
    options.key || process.env[clientKeyVariable]?.trim() || readOwnFile(join(dataDir, 'demo.key'))?.trim();
  if (!key)
    throw new Error(`There is no API key. Use --key or ${clientKeyVariable}. "keys create" creates a key.`);
  const baseUrl =
    options.url?.href.replace(/\/$/, '') ?? urlInSettings(process.env) ?? (await findService(dataDir));
  return { baseUrl, key, addressSetBy: '--url' };
}

/** The address of the API for links: of the settings, or of the service that runs with the data folder. */
export async function addressOfService(): Promise<string> {
  const { baseUrl, dataDir } = readConfig(process.env);
  return urlInSettings(process.env) ?? findService(dataDir).catch(() => baseUrl);
}

/** The address in the settings. Undefined if PORT is 0, which means any free port. */
function urlInSettings(env: Environment): string | undefined {
  const { baseUrl, host, port } = readConfig(env);
  if (env[settings.baseUrl.variable]?.trim()) return baseUrl;
  return env[settings.port.variable]?.trim() && port !== 0 ? localUrl({ address: host, port }) : undefined;
}

/** The service of a data folder. It must prove its address first: after a crash another program may listen there. */
export async function findService(dataDir: string, withinMs = proofTimeoutMs): Promise<string> {
  const address = readServiceAddress(dataDir);
  const challenge = newChallenge();
  if (address && isProof(address, challenge, await proofFor(challenge, address.url, withinMs)))
    return address.url;
  throw new Error(
    `No service runs with PETSTORE_DATA_DIR ${dataDir}. Start one with "${start}", or set its address with --url or PETSTORE_BASE_URL.`,
  );
}

/** The proof of the service at an address; undefined without a response. Throws if the response takes too long. */
async function proofFor(challenge: string, url: string, withinMs: number): Promise<unknown> {
  try {
    const { body } = await fetch(new URL('/healthz', url), {
      headers: { [challengeField]: challenge },
      redirect: 'manual',
      signal: AbortSignal.timeout(withinMs),
    });
    let text = '';
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (text.length > maxProofBytes) return undefined;
    }
    return JSON.parse(text).proof;
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') return undefined;
    throw new Error(`The service at ${url} does not respond.`, { cause: error });
  }
}

export function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It must be an http or https URL.');
  return url;
}
