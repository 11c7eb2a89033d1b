import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { guides } from '../../../src/reference/description/guides.ts';
import { answer, startReceiver } from '../../support/dispatching.ts';
import { fetchChecked } from '../../support/petstore.ts';
import { freePort } from '../../support/port.ts';
import { needs, pythonWithRequests } from '../../support/programs.ts';
import { type Respond, serve } from '../../support/receiver.ts';
import { ampleKey, bin, environment, startService } from '../../support/service.ts';
import { temporaryStorage } from '../../support/storage.ts';
import { until } from '../../support/until.ts';

/** The folder in which `.ci/run` installs the library of the Python receiver. */
const pythonPath = fileURLToPath(new URL('../../../node_modules/.cache/python', import.meta.url));
const env = { PATH: process.env.PATH, HOME: process.env.HOME, PYTHONPATH: pythonPath };
const hasLibrary = spawnSync('python3', ['-c', 'import standardwebhooks'], { env }).status === 0;

const javascript = [process.execPath, '--input-type=module', '-e'];
const languages = {
  javascript: { run: javascript, starts: /createServer/, skip: false },
  python: {
    run: ['python3', '-c'],
    starts: /HTTPServer/,
    ...needs(hasLibrary, 'standardwebhooks for Python'),
  },
};

/** The code in the guide to events that has `part` in it. */
function codeOf(language: string, part: RegExp, baseUrl = 'http://localhost:8080/v1'): string {
  const { description } = guides(baseUrl).find(({ name }) => name === 'Events') ?? {};
  const blocks = [...(description ?? '').matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  const [, , code] = blocks.find(([, used, code]) => used === language && part.test(code as string)) ?? [];
  assert.ok(code, language);
  return code;
}

/** A program and its output. It ends with the test. */
function start(t: TestContext, [program, ...args]: string[], env: NodeJS.ProcessEnv) {
  const child: ChildProcess = spawn(program as string, args, { env });
  t.after(() => child.kill('SIGKILL'));
  let [output, errors] = ['', ''];
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (errors += chunk));
  return { child, output: () => output, errors: () => errors };
}

const isListening = (port: number) =>
  fetch(`http://127.0.0.1:${port}`).then(...([() => true, () => false] as const));

for (const [language, { run, starts, skip }] of Object.entries(languages)) {
  test(`the receiver of the guide in ${language} accepts each delivery of the service once, and no forged one`, {
    skip,
  }, async (t) => {
    const dataDir = join(await temporaryStorage(t), 'data');
    const { origin } = await startService(t, dataDir);
    const key = await ampleKey(dataDir);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const { body: webhook } = await fetchChecked(origin, 'POST', '/store/webhooks', { key, body: { url } });
    const receiver = start(t, [...run, codeOf(language, starts)], {
      ...env,
      WEBHOOK_SECRET: webhook.secret,
      PORT: String(port),
    });
    await until(() => isListening(port));
    await fetchChecked(origin, 'PATCH', '/pets/1', { key, body: { status: 'pending' } });
    await until(() => receiver.output().split('\n').length === 3);
    await fetchChecked(origin, 'POST', `/store/webhooks/${webhook.id}/ping`, { key });
    await until(() => /ping/.test(receiver.output()));
    assert.match(receiver.output(), /^\d+ pet\.updated\n\d+ inventory\.updated\n\w+ ping\n$/);

    const forged = { 'webhook-id': 'evt_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
    const headers = { ...forged, 'webhook-signature': 'v1,AAAA' };
    assert.equal((await fetch(url, { method: 'POST', headers, body: '{}' })).status, 400);
  });
}

test('the readers of the guide continue within an event, and read CRLF, comments and several lines of data', {
  ...needs(pythonWithRequests !== undefined, 'Python with requests'),
}, async (t) => {
  const askedAfter: Record<string, (string | undefined)[]> = { javascript: [], python: [] };
  const block = (id: number) => `id: ${id}\nevent: pet.created\ndata: {"id":${id},"type":"pet.created"}\n\n`;
  const port = await serve(t, (request, response) => {
    const asked = askedAfter[request.url?.split('/')[1] as string] as (string | undefined)[];
    asked.push(request.headers['last-event-id'] as string | undefined);
    if (asked.length > 1) {
      const other = block(8).replace('"id":8,', '"id":8,\ndata: ').replaceAll('\n', '\r\n');
      const [start, end] = [`: sign of life\r\n\r\ndata: {}\r\n\r\n${other}`.slice(0, -1), '\n'];
      response.write(start, () => setImmediate(() => response.end(end)));
      return;
    }
    response.writeHead(200, { 'retry-after': '0' });
    response.write(`retry: 2000\n\nid: 7\n\n${block(8).slice(0, 30)}`, () => response.destroy());
  });
  await Promise.all(
    Object.entries(languages).map(async ([language, { run }]) => {
      const code = codeOf(language, /events\/stream/, `http://127.0.0.1:${port}/${language}/v1`);
      const program = language === 'python' ? [pythonWithRequests ?? 'python3', '-c'] : run;
      const reader = start(t, [...program, code], { ...env, PETSTORE_API_KEY: 'any' });
      const [status] = await once(reader.child, 'close');
      assert.deepEqual([status, reader.output()], [0, '8 pet.created\n'], reader.errors());
      assert.deepEqual(askedAfter[language], ['0', '7']);
    }),
  );
});

test('"webhooks listen" prints events, resumes after a restart of the service, and posts signed events', async (t) => {
  const dataDir = join(await temporaryStorage(t), 'data');
  const first = await startService(t, dataDir);
  const key = await ampleKey(dataDir);
  const receiver = await startReceiver(t);
  receiver.behave = answer(204);
  const { messages } = receiver;
  const forward = `${receiver.url}hooks`;
  const args = ['webhooks', 'listen', '--forward', forward, '--type', 'pet.updated', 'pet.created'];
  const listening = start(t, [process.execPath, bin, ...args], {
    ...environment({ PETSTORE_DATA_DIR: dataDir, PORT: new URL(first.origin).port }),
  });
  await until(() => listening.errors().includes('Listening'));
  const rename = (origin: string, name: string) =>
    fetchChecked(origin, 'PATCH', '/pets/1', { key, body: { name } });
  await rename(first.origin, 'Rover');
  await until(() => messages.length === 1);
  await first.stop('SIGTERM');
  const second = await startService(t, dataDir, { PORT: new URL(first.origin).port });
  await rename(second.origin, 'Fido');
  await until(() => messages.length === 2);

  const secret = /whsec_\S+/.exec(listening.errors())?.[0] as string;
  for (const { headers, body } of messages)
    new Webhook(secret).verify(body, headers as Record<string, string>);
  assert.deepEqual(
    receiver.bodies().map(({ data }) => data.name),
    ['Rover', 'Fido'],
  );
  await until(() => listening.output().split('\n').length === 3);
  assert.match(listening.output(), /^#\d+ \S+Z pet\.updated → 204 in \d+ ms\n#/);
});

test('"webhooks listen" withstands a malicious server: no flood, no endless line, no redirect, no control characters', async (t) => {
  const listenTo = async (respond: Respond) => {
    const url = `http://127.0.0.1:${await serve(t, respond)}/v1`;
    const args = ['webhooks', 'listen', '--key', 'k', '--url', url];
    return start(t, [process.execPath, bin, ...args], environment({}));
  };
  let asked = 0;
  const impatient = await listenTo((_request, response) => {
    asked++;
    response.writeHead(410, { 'retry-after': '99999999999' });
    response.end('{"message":"\\u001b[2J"}');
  });
  let turn = 0;
  const hostile = await listenTo((_request, response) => {
    if (turn++ > 0) return void response.writeHead(302, { location: '/v1/elsewhere' }).end();
    response.writeHead(200, { 'content-type': 'text/event-stream', 'last-event-id': '0' });
    const event = { id: 1, type: '\u001b[2J', timestamp: '\u0007', data: { name: '\u009b2J' } };
    response.write(`data: ${JSON.stringify(event)}\n\ndata: `);
    const filling = setInterval(() => response.write('x'.repeat(500_000)), 5);
    response.once('close', () => clearInterval(filling));
  });
  await once(hostile.child, 'exit');
  assert.match(hostile.errors(), /The stream broke[\s\S]*The response is 302\./);
  assert.equal(turn, 2);
  assert.equal(hostile.output(), '#1 \\u0007 \\u001b[2J {"name":"\\u009b2J"}\n');
  await until(() => asked > 0);
  await sleep(100);
  assert.ok(asked <= 2, `asked ${asked} times`);
  assert.match(impatient.errors(), /^\\u001b\[2J /);
});
