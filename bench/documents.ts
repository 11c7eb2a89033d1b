/**
 * How long a request to the API takes while one address asks for documents without end: `npm run bench -- documents`. One
 * connection sends the request, alone and beside 32 connections that ask for a document. With `--check` the run fails
 * when the median beside them is more than twice the quiet one.
 */
import { compare, holdAtMost, introduce, ratioOf, readOptions } from './support/comparison.ts';
import { get, type Load, send } from './support/load.ts';
import { type Server, type Servers, withServers } from './support/servers.ts';

const effort = readOptions({ connections: 32, most: 2 });

/** The largest one, in the codings that cost most, and a small one that costs little but its request. */
const documents = [
  { path: '/v1/openapi-3.2.json', headers: {} },
  { path: '/v1/openapi-3.2.json', headers: { 'accept-encoding': 'br' } },
  { path: '/robots.txt', headers: {} },
];

/** The greedy ones begin before what is measured, and go on after it. */
const longerSeconds = 1;

async function measure(servers: Servers): Promise<void> {
  const { dataDir, key } = await servers.prepareData('documents');
  const server = await servers.startService(dataDir);
  const neighbour: Load = {
    origins: [server.origin],
    requests: [get('/v1/pets?limit=1', key)],
    connections: 1,
  };
  const [quiet, ...others] = await compare(
    'One connection with `GET /v1/pets?limit=1`',
    [
      { ...neighbour, name: 'alone' },
      ...documents.map((document) => ({
        name: `beside ${effort.connections} with \`GET ${document.path}\`${'accept-encoding' in document.headers ? ', compressed' : ''}`,
        run: (seconds: number) => beside(server, document, neighbour, seconds),
      })),
    ],
    effort,
  );
  if (!quiet) return;
  for (const other of others)
    holdAtMost(`Median ${other.name}`, ratioOf(other, quiet, 'p50Ms'), effort.most, effort);
}

async function beside(
  { origin }: Server,
  document: (typeof documents)[number],
  neighbour: Load,
  seconds: number,
) {
  const greedy: Load = {
    origins: [origin],
    requests: [{ method: 'GET', path: document.path, headers: document.headers as Record<string, string> }],
    connections: effort.connections,
  };
  const asked = send(greedy, seconds + longerSeconds);
  const [result] = await Promise.all([send(neighbour, seconds), asked]);
  return result;
}

introduce(effort);
await withServers(measure);
