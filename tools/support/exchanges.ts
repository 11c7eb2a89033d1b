import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { sampleRequest } from '../../src/reference/description/samples.ts';
import { type OpenapiVersion, openapiVersions } from '../../src/reference/description/schemas.ts';
import { type Demonstration, startDemonstration } from './demonstration.ts';
import { endingOperations } from './examples.ts';
import { go, runProgram, writeDocuments } from './program.ts';

/** What a validator says of a request and its response: empty if it finds nothing. */
interface Verdict {
  name: string;
  status: number;
  request: string;
  response: string;
}

/** Requests that the description allows: an example for each operation but the stream, then optional parts left out or null. */
const allowed: readonly (readonly [
  name: string,
  status: number,
  method: string,
  path: string,
  body?: object,
])[] = [
  ['without optional fields', 201, 'POST', '/store/orders', {}],
  ['with null', 200, 'PATCH', '/pets/1', { status: null }],
  ['with characters beyond ASCII', 201, 'POST', '/categories', { name: '🐕 Größe' }],
  ['with a filter', 200, 'GET', '/pets?status=sold&limit=2'],
  ['of events of all types', 200, 'GET', '/store/events?limit=100'],
  ['for a pet that is not there', 404, 'GET', '/pets/999999'],
];

/** Requests that the description forbids, and the service too. */
const forbidden: typeof allowed = [
  ['with an empty name', 400, 'POST', '/categories', { name: '' }],
  ['with a blank name', 400, 'POST', '/categories', { name: ' \t ' }],
  ['with an unknown status', 400, 'PATCH', '/pets/1', { status: 'lost' }],
  ['with a bad cursor', 400, 'GET', '/pets?cursor=a'],
  ['with a limit too high', 400, 'GET', '/pets?limit=1001'],
  ['with a word as id', 400, 'GET', '/pets/one'],
];

/** What `assertVerdicts` asserts. */
export const verdictsAssert =
  'it accepts an example request of each operation and its response, and refuses the requests that the service refuses.';

/**
 * Lets a program send these requests to a demonstration and validate each with its response. It must object to no request that the
 * description allows, to each that it forbids, and to no response. Returns the number of requests.
 */
export async function assertVerdicts(
  { description, freshKey }: Demonstration,
  program: string[],
): Promise<number> {
  const baseUrl = JSON.parse(readFileSync(description, 'utf8')).servers[0].url;
  const authorization = `Bearer ${await freshKey()}`;
  const exchange = (name: string, method: string, url: string, body?: object, type = 'application/json') => ({
    name,
    method,
    url,
    headers: { authorization, ...(body && { 'content-type': type }) },
    body: body ? JSON.stringify(body) : '',
  });
  const examples = endingOperations.map((operation) => {
    const { method, url, body, mediaType } = sampleRequest(operation, baseUrl);
    return { status: operation.success.status, sent: exchange(operation.id, method, url, body, mediaType) };
  });
  const others = [...allowed, ...forbidden].map(([name, status, method, path, body]) => ({
    status,
    sent: exchange(`${method} ${path} ${name}`, method, baseUrl + path, body),
  }));
  const all = [...examples, ...others];
  const verdicts: Verdict[] = JSON.parse(
    await runProgram(program, JSON.stringify(all.map(({ sent }) => sent))),
  );
  assert.deepEqual(
    verdicts.map(({ name, status }) => ({ name, status })),
    all.map(({ status, sent }) => ({ name: sent.name, status })),
  );
  const isAllowed = (index: number) => index < all.length - forbidden.length;
  const wrong = verdicts.filter(
    ({ request, response }, i) => response !== '' || (request === '') !== isAllowed(i),
  );
  assert.deepEqual(wrong, []);
  return all.length;
}

/** What `assertValidates` asserts. */
export const versionsAssert = `It validates OpenAPI 3.0, 3.1 and 3.2. By each, ${verdictsAssert}`;

/** The file of another version of the served description. */
async function served({ origin, description }: Demonstration, version: OpenapiVersion): Promise<string> {
  if (version === '3.0') return description;
  const file = join(dirname(description), `openapi-${version}.json`);
  writeFileSync(file, await (await fetch(`${origin}/v1/openapi-${version}.json`)).text());
  return file;
}

/** Validates the documents of the lab, then exchanges by each document of the store. */
export async function assertValidates(t: TestContext, program: string): Promise<string> {
  const demonstration = await startDemonstration(t);
  const labs = [
    ...writeDocuments(dirname(demonstration.description), (name) => name.startsWith('lab-3')).values(),
  ];
  let count = 0;
  for (const version of openapiVersions) {
    const description = await served(demonstration, version);
    count += await assertVerdicts({ ...demonstration, description }, go(program, description, ...labs));
  }
  return `${count} requests`;
}
