import { join, resolve } from 'node:path';
import type { Config } from '../../foundation/settings/config.ts';
import { version } from '../../foundation/version.ts';
import { labPageUrlWithKey, referenceUrl, referenceUrlWithKey } from '../../http/target.ts';
import { targetPolicy } from '../../store/webhooks/target-policy.ts';

/** The settings of a service. Without a data folder the data is lost at the end. */
type Served = Omit<Config, 'dataDir'> & { dataDir: string | undefined };

/** The text at the start if there is a demo workspace. Without a terminal it may be stored, so the key appears once: in the command. */
export function welcomeText(served: Served, demoKey: string, isAtTerminal = true): string {
  const { baseUrl, dataDir, lab } = served;
  const pageUrl = (urlWithKey: string) => (isAtTerminal ? urlWithKey : urlWithKey.replace(/#.*/, ''));
  const labPage = lab
    ? `\nThe lab page. It shows the limits, requests, faults and store of this key live:\n\n  ${pageUrl(labPageUrlWithKey(baseUrl, demoKey))}\n`
    : '';
  return `
Petstore is ready.

  API          ${baseUrl}
  Description  ${baseUrl}/openapi.json
  Demo key     ${isAtTerminal ? demoKey : 'in the request below. Enter it on the pages'}
               (${dataDir === undefined ? 'not stored' : `Free plan, stored in ${join(dataDir, 'demo.key')}`})
${targetPolicy(served).allowLoopback ? '  Webhooks     may call this machine, such as http://localhost:3000 (only with the demo workspace)\n' : ''}
The reference. It can send requests with this key:

  ${pageUrl(referenceUrlWithKey(baseUrl, demoKey))}
${labPage}
A first request:

  curl -H "Authorization: Bearer ${demoKey}" "${baseUrl}/pets?limit=2"

`;
}

/** The start message for programs: a line of JSON. */
export function readyLine({ baseUrl, host, port, dataDir }: Served, key: string | undefined): string {
  const urls = { baseUrl, referenceUrl: referenceUrl(baseUrl) };
  const { pid } = process;
  const folder = dataDir === undefined ? undefined : resolve(dataDir);
  return `${JSON.stringify({ ready: true, ...urls, host, port, pid, key, dataDir: folder, version })}\n`;
}
