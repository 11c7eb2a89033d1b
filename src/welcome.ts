import { join, resolve } from 'node:path';
import type { Config } from './config.ts';
import { labPageUrlWithKey, referenceUrl, referenceUrlWithKey } from './reference-url.ts';
import { version } from './version.ts';

/** What is served. Without a data folder nothing is kept. */
type Served = Omit<Config, 'dataDir'> & { dataDir: string | undefined };

/** What the demonstration tells at its start: all that is needed for a first request. */
export const welcome = ({ baseUrl, dataDir, lab }: Served, demoKey: string) => `
Petstore is ready.

  API          ${baseUrl}
  Description  ${baseUrl}/openapi.json
  Demo key     ${demoKey}
               (${dataDir === undefined ? 'gone with the service' : `Free plan, kept in ${join(dataDir, 'demo.key')}`})

The reference, where requests can be tried with the key:

  ${referenceUrlWithKey(baseUrl, demoKey)}
${lab ? `\n${labLines(baseUrl, demoKey)}` : ''}
A first request:

  curl -H "Authorization: Bearer ${demoKey}" "${baseUrl}/pets?limit=2"

`;

const labLines = (
  baseUrl: string,
  demoKey: string,
) => `The lab, which shows limits, requests, faults and the store of the key as things happen:

  ${labPageUrlWithKey(baseUrl, demoKey)}
`;

/** The same for programs, as a line of JSON, also without a demonstration. */
export function readyLine({ baseUrl, host, port, dataDir }: Served, key: string | undefined): string {
  const urls = { baseUrl, referenceUrl: referenceUrl(baseUrl) };
  const { pid } = process;
  const folder = dataDir === undefined ? undefined : resolve(dataDir);
  return `${JSON.stringify({ ready: true, ...urls, host, port, pid, key, dataDir: folder, version })}\n`;
}
