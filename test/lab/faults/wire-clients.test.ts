import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { performedOf, rehearse } from '../../support/lab.ts';
import { startListening } from '../../support/petstore.ts';
import { needs, pythonWithRequests, working } from '../../support/programs.ts';
import { fileAt } from '../../support/tree.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const programs = fileAt('test/support/wire-clients/');

interface Wanted {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  timeoutMs: number;
}

/** A common client. It sends requests one after another, over one connection if it can, and prints the result of each. */
interface Client {
  command: string | undefined;
  args(origin: string, requests: Wanted[]): string[];
  results(output: string): string[];
  /** Its results under each fault. */
  sees: Record<'reset' | 'lost-answer' | 'truncated' | 'stale-connection' | 'slow' | 'delay', string>;
}

const clients: Record<string, Client> = {
  'JavaScript (fetch)': {
    command: process.execPath,
    args: (origin, requests) => [`${programs}client.mjs`, origin, JSON.stringify(requests)],
    results: (output) => JSON.parse(output),
    sees: {
      reset: 'ECONNRESET',
      'lost-answer': 'ECONNRESET',
      truncated: 'UND_ERR_SOCKET',
      'stale-connection': 'UND_ERR_SOCKET',
      slow: 'TimeoutError',
      delay: 'TimeoutError',
    },
  },
  'Python (requests)': {
    command: pythonWithRequests,
    args: (origin, requests) => [`${programs}client.py`, origin, JSON.stringify(requests)],
    results: (output) => JSON.parse(output),
    sees: {
      reset: 'ConnectionError',
      'lost-answer': 'ConnectionError',
      truncated: 'ChunkedEncodingError',
      'stale-connection': 'ConnectionError',
      slow: '200',
      delay: 'ReadTimeout',
    },
  },
  curl: {
    command: working('curl', ['--version']),
    args: (origin, requests) => requests.flatMap(curlArgs(origin)).slice(1),
    results: (output) => output.trimEnd().split('\n').map(curlResult),
    // By itself it retries a request that fails without a response on a used connection.
    sees: {
      reset: 'exit 56',
      'lost-answer': '201 replayed',
      truncated: 'exit 18',
      'stale-connection': '200',
      slow: 'exit 28',
      delay: 'exit 28',
    },
  },
};

function curlResult(line: string): string {
  const [status, exitCode, replayed] = line.split(' ');
  return exitCode === '0' ? `${status}${replayed && ' replayed'}` : `exit ${exitCode}`;
}

const curlArgs =
  (origin: string) =>
  ({ method, path, headers, body, timeoutMs }: Wanted): string[] => [
    '--next',
    ...['--silent', '--request', method, '--max-time', String(timeoutMs / 1000), '--output', '/dev/null'],
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...(body === undefined ? [] : ['--data', body]),
    ...['--write-out', '%{http_code} %{exitcode} %header{idempotency-replayed}\\n', origin + path],
  ];

describe('real clients', { concurrency: true }, () => {
  for (const [name, client] of Object.entries(clients)) {
    const needed = needs(client.command !== undefined, name);
    test(`${name} observes each fault as described`, needed, async (t) => {
      const store = await startListening(t);
      const { id } = await rehearse(store, [
        { fault: 'reset', operation: 'createCategory' },
        { fault: 'lost-answer', operation: 'createPet' },
        { fault: 'truncated', operation: 'listPets' },
        { fault: 'stale-connection', operation: 'updatePet' },
        { fault: 'slow', operation: 'listInventory', bytesPerSecond: 2_000 },
        { fault: 'delay', operation: 'listCategories', delayMs: 30_000 },
      ]);
      const wants = (method: string, path: string, body?: object, timeoutMs = 10_000): Wanted => ({
        ...{ method, path, timeoutMs },
        headers: {
          'X-API-Key': store.key,
          'Content-Type': 'application/json',
          ...(method === 'POST' && { 'Idempotency-Key': path }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const category = wants('POST', '/categories', { name: 'Dragons' });
      const pet = wants('POST', '/pets', { name: 'Smaug', categoryId: 1 });
      const { sees } = client;
      const plan: [Wanted, string][] = [
        [category, sees.reset],
        [category, '201'],
        [pet, sees['lost-answer']],
        [pet, '201 replayed'],
        [wants('GET', '/pets'), sees.truncated],
        [wants('GET', '/pets/1'), '200'],
        [wants('PATCH', '/pets/1', { name: 'Rex' }), sees['stale-connection']],
        [wants('GET', '/inventory', undefined, 300), sees.slow],
        [wants('GET', '/categories', undefined, 300), sees.delay],
      ];
      const [requests, expected] = [plan.map(([wanted]) => wanted), plan.map(([, result]) => result)];
      const args = client.args(`http://127.0.0.1:${store.port}/v1`, requests);
      const running = run(client.command as string, args, { timeout: 20_000 });
      const { stdout } = await running.catch((error) => error);
      assert.deepEqual(client.results(stdout), expected);
      // A client that gives up on a slow storage disconnects before its fault is written.
      await until(async () => (await performedOf(store, id)).at(-1) === 1);
      assert.deepEqual(await performedOf(store, id), [1, 1, 1, 1, 1, 1]);
      const [[count] = []] = await store.db.read`select count(*) from pets where name = 'Smaug'`;
      assert.equal(Number(count), 1);
    });
  }
});
