import { join, resolve } from 'node:path';
import type { Config } from './config.ts';
import { referenceUrl, referenceUrlWithKey } from './reference-url.ts';
import { version } from './version.ts';

/** What the demonstration tells at its start: all that is needed for a first request. */
export const welcome = ({ baseUrl, dataDir }: Config, demoKey: string) => `
Petstore is ready.

  API          ${baseUrl}
  Description  ${baseUrl}/openapi.json
  Demo key     ${demoKey}
               (Free plan, kept in ${join(dataDir, 'demo.key')})

The reference, where requests can be tried with the key:

  ${referenceUrlWithKey(baseUrl, demoKey)}

A first request:

  curl -H "Authorization: Bearer ${demoKey}" "${baseUrl}/pets?limit=2"

`;

/** The same for programs, as a line of JSON, also without a demonstration. */
export function readyLine({ baseUrl, host, port, dataDir }: Config, key: string | undefined): string {
  const urls = { baseUrl, referenceUrl: referenceUrl(baseUrl) };
  const { pid } = process;
  return `${JSON.stringify({ ready: true, ...urls, host, port, pid, key, dataDir: resolve(dataDir), version })}\n`;
}
