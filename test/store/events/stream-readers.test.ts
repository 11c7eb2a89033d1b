import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { createParser } from 'eventsource-parser';
import { pinnedTool, testTool } from '../../../tools/support/tool.ts';
import { browsers, browserTest } from '../../support/browsers.ts';
import { addCategory } from '../../support/dispatching.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { needs, pythonWithRequests, whyNo } from '../../support/programs.ts';
import { until } from '../../support/until.ts';

const name = 'Drägons 🐉';

async function start(t: TestContext) {
  const store = await startPetstore(t, { seed: false });
  const url = `${await store.listen()}/v1/store/events/stream?after=0`;
  await addCategory(store, name);
  return { store, url, headers: { 'X-API-Key': store.key } };
}

const isOpen = async (store: Petstore) => (await store.db.read`select id from streams`).length > 0;

/** Adds a second category once a reader has opened its stream. */
async function addLater(store: Petstore): Promise<void> {
  await until(() => isOpen(store));
  await addCategory(store, name);
}

/** The output of a program until it has read two events. The program is then ended. */
async function outputOf(store: Petstore, command: string, args: string[], env = {}): Promise<string> {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => (output += chunk));
  const adding = addLater(store);
  await until(() => output.split(name).length === 3);
  await adding;
  child.kill('SIGTERM');
  return output;
}

test('curl shows events at once', { skip: whyNo('curl') }, async (t) => {
  const { store, url } = await start(t);
  const field = `X-API-Key: ${store.key}`;
  const output = await outputOf(store, 'curl', ['--silent', '--no-buffer', '--header', field, url]);
  assert.deepEqual(output.match(/^id: \d+$/gm), ['id: 1', 'id: 2']);
});

const needsPython = needs(pythonWithRequests !== undefined, 'Python with requests');

test('Python reads events at once', needsPython, async (t) => {
  const { store, url } = await start(t);
  const program = `
import json, os, requests
with requests.get(os.environ["URL"], headers={"X-API-Key": os.environ["KEY"]}, stream=True, timeout=20) as response:
    for line in response.iter_lines(decode_unicode=True):
        if line.startswith("data: "):
            event = json.loads(line.removeprefix("data: "))
            print(event["id"], event["data"]["name"], flush=True)
`;
  const env = { URL: url, KEY: store.key, PYTHONIOENCODING: 'utf-8' };
  const output = await outputOf(store, pythonWithRequests as string, ['-c', program], env);
  assert.equal(output, `1 ${name}\n2 ${name}\n`);
});

testTool(
  pinnedTool('eventsource-parser', 'rexxars/eventsource-parser', 'Receives', 'eventsource-parser'),
  {
    called: '`createParser` on the stream of events',
    asserts: 'It reads events, retry times and comments, without an error.',
    runs: true,
  },
  async (t) => {
    const { store, url, headers } = await start(t);
    const controller = new AbortController();
    t.after(() => controller.abort());
    const { body } = await fetch(url, { headers, signal: controller.signal });
    const [events, retries, comments, errors]: [object[], number[], string[], unknown[]] = [[], [], [], []];
    const parser = createParser({
      onEvent: (event) => events.push(event),
      onRetry: (ms) => retries.push(ms),
      onComment: (comment) => comments.push(comment),
      onError: (error) => errors.push(error),
    });
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const bytes of body as AsyncIterable<Uint8Array>)
        parser.feed(decoder.decode(bytes, { stream: true }));
    })().catch(() => {});
    await addLater(store);
    await until(() => events.length === 2);
    store.aheadMs += 15_000;
    await until(() => comments.length === 1);
    controller.abort();
    await reading;
    const shown = events as { id: string; event: string; data: string }[];
    assert.deepEqual(
      shown.map(({ id, event, data }) => [id, event, JSON.parse(data).data.name]),
      [
        ['1', 'category.created', name],
        ['2', 'category.created', name],
      ],
    );
    assert.deepEqual([retries.length, comments, errors], [1, [''], []]);
  },
);

browserTest('a web page of any origin reads events at once', async (t) => {
  const { store, url, headers } = await start(t);
  const browser = await browsers[0].launch();
  t.after(() => browser.close());
  const page = await browser.newPage();
  // Not the origin of the URL.
  await page.goto(new URL('/healthz', url).href.replace('127.0.0.1', 'localhost'));
  const reading = page.evaluate(
    async ([url, headers]) => {
      const response = await fetch(url, { headers: { ...headers, 'Last-Event-ID': '0' } });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const decoder = new TextDecoder();
      let text = '';
      while (text.split('\nevent: ').length < 3)
        text += decoder.decode((await reader.read()).value, { stream: true });
      await reader.cancel();
      return { text, requestId: response.headers.get('x-request-id') };
    },
    [url, headers] as const,
  );
  await addLater(store);
  const { text, requestId } = await reading;
  assert.deepEqual(text.match(/^id: \d+$/gm), ['id: 1', 'id: 2']);
  assert.ok(requestId);
  await until(async () => !(await isOpen(store)));
});
