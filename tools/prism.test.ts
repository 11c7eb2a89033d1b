import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { operations } from '../src/api/operations.ts';
import type { Operation } from '../src/http/operation.ts';
import type { JsonObject } from '../src/reference/description/schemas.ts';
import { description, resolve, validator } from '../test/support/description.ts';
import { freePort } from '../test/support/port.ts';
import { startDemonstration } from './support/demonstration.ts';
import { endingOperations, sendExample } from './support/examples.ts';
import { pinnedTool, testTool } from './support/tool.ts';

const program = fileURLToPath(new URL('node_modules/@stoplight/prism-cli/dist/index.js', import.meta.url));
const startTimeoutMs = 30_000;

/** Starts Prism and returns where it listens. */
async function startPrism(t: TestContext, ...args: string[]): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [program, ...args, '--port', String(port)]);
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  const started = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('Prism is listening')) resolve();
    });
  });
  const timer = AbortSignal.timeout(startTimeoutMs);
  await Promise.race([started, once(timer, 'abort'), once(child, 'exit')]);
  assert.match(output, /Prism is listening/);
  return `http://127.0.0.1:${port}`;
}

type Content = { schema: JsonObject; example?: unknown; examples?: object };

/** What is described of the success of an operation and of each error, by status. */
function contentsOf({ path, method }: Operation): [status: number, content: Content | undefined][] {
  const { 304: _, ...responses } = description.paths[path][method.toLowerCase()].responses;
  return Object.entries<JsonObject>(responses).map(([status, response]) => [
    Number(status),
    Object.values((resolve(response).content ?? {}) as Record<string, Content>)[0],
  ]);
}

const prism = pinnedTool('Prism', 'stoplightio/prism', 'Sends requests', '@stoplight/prism-cli');

testTool(
  prism,
  {
    called: '`prism mock`',
    asserts: 'Each operation gets its example, and the right error for each of its statuses.',
    runs: true,
  },
  async (t) => {
    const { description: file } = await startDemonstration(t);
    const origin = await startPrism(t, 'mock', file);
    let count = 0;
    for (const operation of operations) {
      for (const [status, content] of contentsOf(operation)) {
        const isError = status >= 400;
        const answer = await sendExample(operation, origin, isError ? { prefer: `code=${status}` } : {});
        const what = `${operation.id} ${status}`;
        const text = await answer.text();
        assert.equal(answer.status, status, `${what}: ${text}`);
        count++;
        if (!content || operation.success.kind === 'stream') continue;
        const body = JSON.parse(text) as { code: string; status: number };
        assert.ok(validator(content.schema)(body), `${what}: ${text}`);
        if (isError)
          assert.ok(body.status === status && body.code in (content.examples ?? {}), `${what}: ${text}`);
        else assert.deepEqual(body, content.example, what);
      }
    }
    return `${count} responses of ${operations.length} operations`;
  },
);

testTool(
  prism,
  {
    called: '`prism proxy --errors`',
    asserts:
      'It finds no violation in the example requests, in their responses, nor in optional and null fields.',
    runs: true,
    exemptions: ['It waits for the end of each response, so the stream of events is left out.'],
  },
  async (t) => {
    const { origin: upstream, description: file, freshKey } = await startDemonstration(t);
    const origin = await startPrism(t, 'proxy', file, `${upstream}/v1`, '--errors');
    const headers = { authorization: `Bearer ${await freshKey()}` };
    for (const operation of endingOperations) {
      const answer = await sendExample(operation, origin, headers);
      assert.equal(answer.status, operation.success.status, `${operation.id}: ${await answer.text()}`);
    }
    const send = (method: string, path: string, body: object) =>
      fetch(origin + path, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    assert.equal((await send('POST', '/store/orders', {})).status, 201);
    assert.equal((await send('PATCH', '/pets/1', { status: null })).status, 200);
  },
);
