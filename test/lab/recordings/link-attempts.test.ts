import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprintOf, linkAttempts } from '../../../src/lab/recordings/link-attempts.ts';
import { cut, finds, key, post } from '../../support/findings.ts';

/** Requests with these fingerprints, one second apart, with the attempts before them. */
const linkOf = (fingerprints: string[]) => {
  const attempts = fingerprints.map((fingerprint, index) => ({
    ...{ number: index + 1, fingerprint },
    ...{ atUs: index * 1_000_000, tookUs: 1_000 },
  }));
  return linkAttempts(attempts).values().toArray();
};

const linked = (...fingerprints: string[]) =>
  linkOf(fingerprints).map(({ fingerprint, isGuessed }) => `${fingerprint}${isGuessed ? '?' : ''}`);

/** The number of the attempt before each request. */
const repeatedBy = (...fingerprints: string[]) => linkOf(fingerprints).map(({ before }) => before);

test('a request whose body was not read is identified by its Idempotency-Key, or else guessed', () => {
  const unread = (key?: string) => fingerprintOf('head', undefined, key);
  const read = (body: string, key?: string) => fingerprintOf('head', body, key);
  // Two concurrent POSTs. The first was cut off.
  assert.deepEqual(linked(unread('a'), read('B', 'b'), read('A', 'a')), ['head.A', 'head.B', 'head.A']);
  assert.deepEqual(linked(read('A', 'a'), read('B', 'b'), unread('a')), ['head.A', 'head.B', 'head.A']);
  assert.deepEqual(linked(unread(), read('B'), read('A')), ['head.B?', 'head.B', 'head.A']);
  assert.deepEqual(linked(read('A'), read('B'), unread()), ['head.A', 'head.B', 'head.B?']);
  assert.deepEqual(linked(unread('a'), read('B', 'b')), ['head.B?', 'head.B']);
  assert.deepEqual(linked(unread('a'), fingerprintOf('other', 'B', 'a')), ['head.?', 'other.B']);
});

test('a request repeats the last ended attempt, and none if another is in flight', () => {
  const pet = { fingerprint: fingerprintOf('head', 'A') };
  const attempts = [
    { ...pet, number: 2, atUs: 0, tookUs: 10_000 },
    { ...pet, number: 1, atUs: 2_000, tookUs: 3_000 },
    // The client had its response just before the service recorded the end.
    { ...pet, number: 3, atUs: 9_000, tookUs: 1_000 },
    { number: 4, atUs: 20_000, tookUs: 1_000, fingerprint: fingerprintOf('head', 'B') },
    { ...pet, number: 5, atUs: 30_000, tookUs: 1_000 },
  ];
  assert.deepEqual(
    [...linkAttempts(attempts)].map(([number, { before, gapMs }]) => [number, before, gapMs]),
    [
      [2, undefined, undefined],
      [1, undefined, 0],
      [3, 2, 0],
      [4, undefined, undefined],
      [5, 3, 20],
    ],
  );
});

test('attempts with one Idempotency-Key belong together, and an unread body matches no other key', () => {
  const [long, short] = ['head of 69 bytes', 'head of 68 bytes'];
  const of = (head: string, key: string, body?: string) => fingerprintOf(head, body, key);
  // The second attempt with key a has a shorter body. That with key b is as long as the first.
  const dated = [of(long, 'a'), of(short, 'a', 'A2'), of(long, 'b', 'B')];
  assert.deepEqual(repeatedBy(...dated), [undefined, 1, undefined]);
  // The client gave up a. b is another request, or the same with another key. Only a read body shows it.
  assert.deepEqual(repeatedBy(of(long, 'a'), of(long, 'b', 'B')), [undefined, undefined]);
  assert.deepEqual(repeatedBy(of(long, 'a', 'B'), of(long, 'b', 'B')), [undefined, 1]);
  // Without keys only a guess is possible.
  const plain = (body?: string) => of(long, '', body);
  assert.deepEqual(repeatedBy(plain('A'), plain(), plain('A')), [undefined, 1, 2]);
  // Two equal concurrent requests: each is repeated with its own key.
  const both = [of(long, 'a', 'A'), of(long, 'b', 'A'), of(long, 'a', 'A'), of(long, 'b', 'A')];
  assert.deepEqual(repeatedBy(...both), [undefined, 1, 1, 2]);
});

test('a guessed body is no evidence against a client, and does not show that the client gave up', () => {
  const known = { at: 0, ...post, ...cut };
  const guessed = { ...known, isGuessed: true as const };
  const next = { at: 9, ...post };
  finds('idempotency.no-blind-post-retry', [guessed, next], 'not_observed');
  finds('idempotency.no-blind-post-retry', [known, next], 'failed', [1, 2]);
  const same = 'idempotency.same-key-on-retry';
  const fresh = { ...next, ...key('b') };
  finds(same, [{ ...guessed, ...key('a') }, fresh], 'not_observed');
  finds(same, [{ ...known, ...key('a') }, fresh], 'failed', [1, 2]);
  const unavailable = { status: 503, answerHeaders: { 'retry-after': '2' } };
  finds('retry-after.obeyed', [{ ...guessed, ...unavailable }, next], 'not_observed');
  const again = { ...next, ...key('a') };
  finds('retry-after.obeyed', [{ ...guessed, ...unavailable, ...key('a') }, again], 'failed', [1, 2]);
  // Any other request of its length may be its retry.
  const other = { ...next, body: '{"name":"b"}' };
  finds('failures.retried', [{ ...guessed, ...unavailable }, other], 'not_observed');
  finds('failures.retried', [{ ...known, ...unavailable }, other], 'failed', [1]);
});
