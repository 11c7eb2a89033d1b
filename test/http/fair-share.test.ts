import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { FairShare, maxUnreadBytes } from '../../src/http/fair-share.ts';

/** The response of a client that is there. */
const open = new EventEmitter() as ServerResponse;

/** A share whose requests take as long as a test says, in milliseconds of its own clock. */
function start() {
  let nowMs = 0;
  const share = new FairShare(() => nowMs);
  const begun: string[] = [];
  const ask = async (key: string, tookMs: number, leastPauseMs?: number) => {
    await share.enter(key, open, leastPauseMs);
    begun.push(key);
    nowMs += tookMs;
  };
  return { share, begun, ask };
}

/** Long enough for each request that may begin. */
async function turns(): Promise<void> {
  for (let i = 0; i < 30; i++) await nextTurn();
}

test('cheap requests begin at once, however many come together', async () => {
  const { share } = start();
  for (let i = 0; i < 1_000; i++) assert.equal(share.enter('cheap', open), undefined);
});

test('after a slow turn the requests of its keys run one in a turn, until they prove to be cheap', async () => {
  const { share, ask, begun } = start();
  await Promise.all([ask('greedy', 5), ask('neighbour', 0.1)]);
  await turns();
  assert.notEqual(share.enter('greedy', open), undefined);
  assert.equal(share.enter('other', open), undefined);
  begun.length = 0;
  const all = Array.from({ length: 5 }, () => ask('neighbour', 0.1));
  const counts: number[] = [];
  while (begun.length < all.length) {
    await nextTurn();
    counts.push(begun.length);
  }
  for (const [i, count] of counts.entries()) assert.ok(count - (counts[i - 1] ?? 0) <= 1, String(counts));
  await turns();
  assert.equal(share.enter('neighbour', open), undefined);
});

test('a key with costly requests pauses three times as long as each took, and others do not wait for it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { begun, ask } = start();
  const asked = [ask('greedy', 3, 0), ask('greedy', 3, 0), ask('greedy', 3, 0)];
  await turns();
  assert.deepEqual(begun, ['greedy']);
  await ask('neighbour', 0.1, 0);
  assert.deepEqual(begun, ['greedy', 'neighbour']);
  t.mock.timers.tick(8);
  await turns();
  assert.equal(begun.length, 2);
  t.mock.timers.tick(1);
  await asked[1];
  await turns();
  t.mock.timers.tick(9);
  await asked[2];
});

test('a key does not pause for long because the process was stopped during its request', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { begun, ask } = start();
  const asked = [ask('unlucky', 60_000, 0), ask('unlucky', 0.1, 0)];
  await turns();
  assert.equal(begun.length, 1);
  t.mock.timers.tick(75);
  await asked[1];
});

test('a key pauses for some milliseconds after a message of an agent, however short it was', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { begun, ask } = start();
  const asked = [ask('agent', 0.1, 3), ask('agent', 0.1, 3)];
  await turns();
  t.mock.timers.tick(2);
  await turns();
  assert.equal(begun.length, 1);
  t.mock.timers.tick(1);
  await asked[1];
});

test('keys take turns', async () => {
  const { begun, ask } = start();
  const asked = ['a', 'a', 'a', 'b', 'b', 'c'].map((key) => ask(key, 0.1, 0));
  await Promise.all(asked);
  assert.deepEqual(begun.slice(0, 3), ['a', 'b', 'c']);
});

test('cheap requests between costly ones do not free a key at once', async () => {
  const { share, ask } = start();
  await ask('greedy', 8, 0);
  await turns();
  for (let i = 0; i < 3; i++) {
    await ask('greedy', 0.01, 0);
    await turns();
    assert.notEqual(share.enter('greedy', open), undefined);
  }
});

test('while too many bytes of responses to a key are unread, its next request gets 429', async () => {
  const { share } = start();
  const write = (key: string, bytes: number) => {
    const response = new EventEmitter() as ServerResponse;
    share.countUnread(key, response, Buffer.alloc(bytes));
    return () => response.emit('close');
  };
  const read = write('greedy', maxUnreadBytes);
  assert.equal(share.enter('greedy', open), undefined);
  const readMore = write('greedy', 100_000);
  assert.throws(() => share.enter('greedy', open), {
    code: 'rate_limited',
    headers: { 'Retry-After': '1' },
  });
  assert.throws(() => share.enter('greedy', open, 0), { code: 'rate_limited' });
  assert.equal(share.enter('neighbour', open), undefined);
  readMore();
  assert.equal(share.enter('greedy', open), undefined);
  read();
  await sleep(0);
  assert.equal(share.enter('greedy', open), undefined);
});

test('a request never begins, and its response does not count as unread, if its client has left', async () => {
  const { share } = start();
  const left = Object.assign(new EventEmitter(), { destroyed: true }) as unknown as ServerResponse;
  let begun = 0;
  const wait = (response: ServerResponse) => share.enter('key', response, 0)?.then(() => begun++);
  const waiting = [open, left, left, open].map(wait);
  await Promise.all([waiting[0], waiting[3]]);
  assert.equal(begun, 2);
  share.countUnread('key', left, Buffer.alloc(2 * maxUnreadBytes));
  assert.equal(share.enter('key', open), undefined);
});

test('a bounded number of requests of a key waits, and those whose client has left make room', async () => {
  const { share } = start();
  const leaving = Object.assign(new EventEmitter(), { destroyed: false });
  const responses = Array(2_001).fill(open).with(5, leaving);
  for (const response of responses) share.enter('key', response, 0);
  assert.throws(() => share.enter('key', open, 0), { code: 'rate_limited', headers: { 'Retry-After': '1' } });
  assert.notEqual(share.enter('neighbour', open, 0), undefined);
  leaving.destroyed = true;
  assert.notEqual(share.enter('key', open, 0), undefined);
});
