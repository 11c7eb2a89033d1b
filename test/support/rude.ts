import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pick, type Random, randomFrom } from './crash/random.ts';
import { fetchChecked } from './petstore.ts';
import { ampleKey, startService } from './service.ts';
import { temporaryStorage } from './storage.ts';

const atOnce = 50;
/** How long a client waits for a response that may not come. */
const patienceMs = 100;

/** The lengths of all requests but the last and of all of them, and the last one. */
interface Requests {
  before: number;
  whole: number;
  head: string;
  body: string;
}

/** When a client aborts its connection, with the length of what it has sent. */
const moments = {
  'before the head': () => 0,
  'within it': ({ before, head }: Requests, random: Random) => before + random(head.length),
  'within the body': ({ before, head, body }: Requests, random: Random) =>
    before + head.length + random(body.length + 1),
  'before the answer': ({ whole }: Requests) => whole,
  'within the answer': ({ whole }: Requests) => whole,
};
const momentNames = Object.keys(moments) as (keyof typeof moments)[];
/** How: by a reset, by closing without reading, or by closing one half and then the rest. */
const ways = ['reset', 'close', 'half'] as const;

const targets = '/v1/pets /v1/pets/1 /v1/openapi.json /healthz /v1/petz x:1 * http://x/v1/pets'.split(' ');
const body = '{"name":"Rex","categoryId":1}';
const fields = [
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n',
  'Expect: 100-continue\r\n',
  'Connection: close\r\n',
  '',
];
const bodies = [
  { head: '', body: '' },
  { head: `Content-Length: ${body.length}\r\n`, body },
  { head: 'Content-Length: 70000\r\n', body: 'x'.repeat(70_000) },
  { head: 'Transfer-Encoding: chunked\r\n', body: `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` },
  { head: 'Transfer-Encoding: chunked\r\n', body: 'ZZZ\r\n' },
];

/**
 * Aborts `count` connections to a new service, and asserts that it still works. Returns how many were
 * aborted at each moment.
 */
export async function assertSurvivesBrokenConnections(t: TestContext, count: number, seed: number) {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder, { LOG_LEVEL: 'error' });
  const key = await ampleKey(folder);
  const broken = await breakConnections(Number(new URL(service.origin).port), key, count, seed);
  assert.equal(service.child.exitCode, null, service.output());
  assert.equal((await fetchChecked(service.origin, 'GET', '/pets', { key })).status, 200);
  assert.doesNotMatch(service.output(), /"level":"error"/, 'nothing failed');
  return broken;
}

/**
 * Opens `count` connections to the service at `port`, each with one to three requests of any method, and aborts each
 * at some moment. Returns how many were aborted at each moment. The same seed gives the same connections.
 */
async function breakConnections(port: number, key: string, count: number, seed: number) {
  const random = randomFrom(seed);
  const broken = Object.fromEntries(momentNames.map((moment) => [moment, 0]));
  const methods = [...METHODS, 'PRI', 'NONSENSE', 'CONNECT', 'CONNECT', 'POST', 'GET'];
  let left = count;
  const client = async () => {
    while (left-- > 0) {
      const requests = Array.from({ length: 1 + random(3) }, () => {
        const content = pick(bodies, random);
        const credentials = random(3) > 0 ? `X-API-Key: ${key}\r\nContent-Type: application/json\r\n` : '';
        const line = `${pick(methods, random)} ${pick(targets, random)} HTTP/1.1\r\nHost: x\r\n`;
        return {
          head: `${line}${credentials}${pick(fields, random)}${content.head}\r\n`,
          body: content.body,
        };
      });
      const moment = pick(momentNames, random);
      await breakOff(port, requests, moment, pick(ways, random), random);
      broken[moment] = (broken[moment] as number) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return broken;
}

async function breakOff(
  port: number,
  requests: { head: string; body: string }[],
  moment: keyof typeof moments,
  way: (typeof ways)[number],
  random: Random,
): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const ended = new Promise<void>((resolve) => {
    socket.on('error', () => {}).on('close', () => resolve());
  });
  const heard = new Promise<void>((resolve) => socket.once('readable', resolve));
  await Promise.race([new Promise<void>((resolve) => socket.once('connect', resolve)), ended]);
  const whole = requests.map(({ head, body }) => head + body).join('');
  const { head, body } = requests.at(-1) as (typeof requests)[number];
  const before = whole.length - head.length - body.length;
  const length = moments[moment]({ before, whole: whole.length, head, body }, random);
  if (length > 0) socket.write(whole.slice(0, length));
  if (moment === 'within the answer') await Promise.race([heard, ended, sleep(patienceMs)]);
  else await sleep(random(4));
  await leave(socket, way, ended);
}

async function leave(socket: Socket, way: (typeof ways)[number], ended: Promise<void>): Promise<void> {
  if (way === 'half') {
    socket.end();
    await Promise.race([sleep(2), ended]);
  }
  if (way === 'close') socket.destroy();
  else socket.resetAndDestroy();
  await ended;
}
