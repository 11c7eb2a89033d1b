import assert from 'node:assert/strict';
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { maxWaiting } from '../../src/observe/log/output.ts';
import { slowStopwatch } from '../support/clock.ts';
import { freePort } from '../support/port.ts';
import { isAlive } from '../support/programs.ts';
import { ampleKey, type Service, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';
import { atTerminal, needsTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';
import { numbers } from '../support/values.ts';

/** The bytes that a pipe and its reader buffer, besides the lines that the service keeps. */
const maxInPipe = 512 * 1024;
/** Its line is long, since JSON escapes quotes. */
const longUrl = `/v1/pets?${'"'.repeat(300)}`;

/** A service in a process of its own, and a key. */
async function start(t: TestContext, env = {}, atOnce = (_child: ChildProcess) => {}) {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder, env, { atOnce });
  return { service, key: await ampleKey(folder) };
}

/** Sends this many requests, each with its number in its log line, and waits for the responses. */
async function flood({ origin }: Pick<Service, 'origin'>, key: string, count: number): Promise<void> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').setEncoding('latin1');
  const request = (i: number) =>
    `GET ${longUrl} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nX-Request-Id: ${i}\r\n\r\n`;
  let [sent, answered] = [0, 0];
  const sendMore = () => {
    for (; sent < count && sent < answered + 16; sent++) socket.write(request(sent));
    if (answered === count) socket.end();
  };
  socket.on('data', (text: unknown) => {
    answered += String(text).split('HTTP/1.1 400').length - 1;
    sendMore();
  });
  sendMore();
  await once(socket, 'close');
}

/** The numbers in the log lines received. Lines of a flood are too long to parse repeatedly. */
const numbersIn = (service: Service, pattern: RegExp) =>
  [...service.output().matchAll(pattern)].map(([, number]) => Number(number));

/** The numbers of the received requests of a flood. */
const floodLinesOf = (service: Service) => numbersIn(service, /^\{.*"reqId":"(\d+)".*\}$/gm);

async function unreadLines({ origin }: Service): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  return Number(/^petstore_log_lines_dropped_total\{reason="unread"\} (\d+)$/m.exec(text)?.[1]);
}

test('a log that nobody reads blocks no response and uses bounded memory; dropped lines are counted and reported', async (t) => {
  const { service, key } = await start(t);
  await flood(service, key, 500);
  await until(() => floodLinesOf(service).length === 500);
  service.child.stdout?.pause();
  const read = service.output().length;
  const count = 12_000;
  await flood(service, key, count);
  service.child.stdout?.resume();
  const droppedCounts = () => numbersIn(service, /"dropped":(\d+)/g);
  await until(() => droppedCounts().length > 0);
  await until(
    async () => droppedCounts().reduce((sum, dropped) => sum + dropped, 0) === (await unreadLines(service)),
  );
  const dropped = await unreadLines(service);
  await until(() => floodLinesOf(service).length === 500 + count - dropped);
  const waited = service.output().length - read;
  assert.ok(waited < maxWaiting + maxInPipe, `${waited} characters`);
});

test('a service whose log nobody reads ends on SIGTERM', async (t) => {
  const { service, key } = await start(t);
  service.child.stdout?.pause();
  await flood(service, key, 1_000);
  assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
});

test('SIGTERM loses no line, even if the reader is slow and starts late', async (t) => {
  const { service, key } = await start(t, slowStopwatch(60));
  const { stdout } = service.child as ChildProcessWithoutNullStreams;
  stdout.pause();
  const count = 2_000;
  await flood(service, key, count);
  const stopped = service.stop('SIGTERM');
  // The service is writing its last lines, or will soon.
  const isUp = () => fetch(`${service.origin}/healthz`).catch(() => undefined);
  await until(async () => (await isUp()) === undefined);
  stdout.on('data', () => {
    stdout.pause();
    setTimeout(() => stdout.resume(), 10);
  });
  stdout.resume();
  assert.deepEqual(await stopped, { code: 0, signal: null });
  assert.deepEqual(floodLinesOf(service), numbers(count, 0));
  assert.match(service.output(), /"msg":"stopped".*\n$/);
});

test('lines are written soon, and survive kill -9', async (t) => {
  const { service, key } = await start(t);
  const count = 300;
  await flood(service, key, count);
  await until(() => floodLinesOf(service).length === count);
  assert.deepEqual(await service.stop('SIGKILL'), { code: null, signal: 'SIGKILL' });
  assert.deepEqual(floodLinesOf(service), numbers(count, 0));
});

test('a service whose log reader is gone starts and works, and counts the lost lines', async (t) => {
  const { service, key } = await start(t, {}, ({ stdout }) => stdout?.destroy());
  await flood(service, key, 200);
  await sleep(50);
  await flood(service, key, 200);
  await until(async () => (await unreadLines(service)) >= 400);
  assert.equal((await fetch(`${service.origin}/healthz`)).status, 200);
  assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
});

test('a service at a stopped terminal responds, and ends on SIGTERM', needsTerminal, async (t) => {
  const folder = await temporaryStorage(t);
  const port = await freePort();
  const env = { PORT: String(port), PETSTORE_DATA_DIR: folder };
  const terminal = atTerminal(t, ['serve'], env, 'echo pid=$$;');
  await until(() => /curl .*limit=/.test(terminal.output()));
  const pid = Number(/pid=(\d+)/.exec(terminal.output())?.[1]);
  const origin = `http://127.0.0.1:${port}`;
  const key = await ampleKey(folder);
  terminal.stall();
  await flood({ origin }, key, 1_000);
  assert.equal((await fetch(`${origin}/healthz`)).status, 200);
  process.kill(pid, 'SIGTERM');
  await until(() => !isAlive(pid));
});
