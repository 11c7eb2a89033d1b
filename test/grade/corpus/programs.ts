import type { Deviation, Verdict } from '../../../src/grade/grade.ts';
import { checks } from '../../../src/lab/checks/list.ts';
import type { PlannedFault } from '../../../src/lab/rehearsals/schema.ts';

/** A mistake of a program: a kind of deviation, an end under a fault, or a check that must fail. */
export type Mistaken = Deviation['kind'] | Extract<Verdict, 'failed' | 'hung'> | { check: string };

/** A program of this folder, and the expected content of its grade. */
export interface Program {
  /** A file, or a package of the folder `go`. */
  file: string;
  /** Its argument: the mistake to make, or the variant of a correct program. */
  mistake?: string;
  must?: Mistaken;
  /** The fault that shows the mistake. Default: a run without faults shows it. */
  fault?: PlannedFault;
  /** The faults for a correct program. Default: all. */
  only?: string[];
  /** The time limit of a run. */
  timeoutMs?: number;
  /** Recommended faults under which a correct program stops, and says so. */
  stopsUnder?: string[];
  /** Recommended checks that a correct program need not pass. */
  lacks?: string[];
}

const check = (name: string) => {
  if (!checks.some((one) => one.name === name)) throw new Error(`There is no check ${name}.`);
  return { check: name };
};

/** These programs do not count the remaining requests. */
const lacks = ['limits.foreseen'];

const twice = (file: string, ...mistakes: string[]): Program[] =>
  mistakes.map((mistake) => ({ file, mistake, must: 'twice', fault: { fault: 'lost-answer' } }));
const ignoresRetryAfter = (file: string): Program => ({
  ...{ file, mistake: 'ignores Retry-After' },
  ...{ must: check('retry-after.obeyed'), fault: { fault: 'rate-limited' } },
});
const noTimeLimit = (file: string): Program => ({
  ...{ file, mistake: 'no time limit' },
  ...{ must: check('time-limit.exists'), fault: { fault: 'no-answer' } },
});
const forwardsItsKey = (file: string): Program => ({
  ...{ file, mistake: 'forwards its key' },
  ...{ must: check('credentials.not-forwarded'), fault: { fault: 'moved-away' } },
});

/** Every program of the corpus. */
export const programs: Program[] = [
  // One worker with fetch, in a loop of its own.
  { file: 'fetch.mjs', stopsUnder: ['same-page'] },
  { file: 'fetch.mjs', mistake: 'only reads', stopsUnder: ['same-page'] },
  ...twice(
    'fetch.mjs',
    'no key',
    'no key in the loop',
    'a key for each attempt',
    'a key for each attempt in the loop',
  ),
  ...twice('fetch.mjs', 'removes what it made twice', 'looks on the first page'),
  ...twice('fetch.mjs', 'no key with random names'),
  {
    ...{ file: 'fetch.mjs', mistake: 'random names' },
    only: ['lost-answer', 'unavailable', 'unauthorized'],
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'polls' },
    only: ['internal-error', 'rate-limited', 'lost-answer'],
  },
  { file: 'fetch.mjs', mistake: 'no key', must: 'twice', fault: { fault: 'gateway-timeout' } },
  { file: 'fetch.mjs', mistake: 'one key for all orders', must: check('idempotency.key-for-one-thing') },
  { file: 'fetch.mjs', mistake: 'another body on retry', must: 'other', fault: { fault: 'unavailable' } },
  {
    ...{ file: 'fetch.mjs', mistake: 'another body on retry' },
    ...{ must: check('retry.same-body'), fault: { fault: 'lost-answer' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'waits as long each time' },
    ...{ must: check('backoff.grows'), fault: { fault: 'internal-error', times: 4 } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'retries at once' },
    ...{ must: check('backoff.grows'), fault: { fault: 'internal-error', times: 4 } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'never gives up' },
    ...{
      must: check('attempts.bounded'),
      fault: { fault: 'internal-error', operation: 'createCategory', times: 25 },
    },
  },
  ignoresRetryAfter('fetch.mjs'),
  ...['zero', 'past'].map(
    (shape): Program => ({
      ...{ file: 'fetch.mjs', mistake: 'trusts Retry-After alone' },
      ...{ must: check('backoff.grows'), fault: { fault: 'retry-after-odd', shape, times: 4 } },
    }),
  ),
  {
    ...{ file: 'fetch.mjs', mistake: 'waits for ten days', timeoutMs: 10_000 },
    ...{ must: 'hung', fault: { fault: 'retry-after-odd', shape: 'ten-days', operation: 'createCategory' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'waits for ten days' },
    ...{
      must: check('retry-after.obeyed'),
      fault: { fault: 'retry-after-odd', shape: 'thirty-days', operation: 'createCategory' },
    },
  },
  noTimeLimit('fetch.mjs'),
  {
    ...{ file: 'fetch.mjs', mistake: 'no time limit for bodies' },
    ...{ must: check('time-limit.exists'), fault: { fault: 'stall' } },
  },
  { file: 'fetch.mjs', mistake: 'retries refusals', must: 'failed', fault: { fault: 'conflict' } },
  {
    ...{ file: 'fetch.mjs', mistake: 'repeats 401' },
    ...{ must: check('retry.only-when-useful'), fault: { fault: 'unauthorized', times: 3 } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'takes a key in use for a refusal' },
    ...{ must: 'failed', fault: { fault: 'key-in-use' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'takes every body for JSON' },
    ...{ must: 'failed', fault: { fault: 'bad-gateway' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'follows redirects with its key' },
    ...{ must: check('credentials.not-forwarded'), fault: { fault: 'moved-away' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'follows redirects by GET' },
    ...{ must: check('retry.same-body'), fault: { fault: 'moved' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'follows links for ever', timeoutMs: 10_000 },
    ...{ must: 'hung', fault: { fault: 'same-page' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'reads the first page' },
    ...{ must: check('pages.to-the-end'), fault: { fault: 'small-pages' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'stops at an empty page' },
    ...{ must: check('pages.to-the-end'), fault: { fault: 'empty-page' } },
  },
  {
    file: 'fetch.mjs',
    mistake: 'swallows errors of later pages',
    must: 'undone',
    fault: { fault: 'unavailable' },
  },
  {
    file: 'fetch.mjs',
    mistake: 'prints zero after errors',
    must: 'printed',
    fault: { fault: 'unavailable' },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'loses the filter on later pages' },
    ...{ must: 'other', fault: { fault: 'small-pages' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'takes dates for numbers' },
    ...{ must: check('retry-after.obeyed'), fault: { fault: 'rate-limited-date' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'does not foresee limits' },
    ...{ must: check('limits.foreseen'), fault: { fault: 'near-limit' } },
  },
  { file: 'fetch.mjs', mistake: 'retries refusals', must: check('retry.only-when-useful') },
  {
    ...{ file: 'fetch.mjs', mistake: 'reads from a cache after 412' },
    ...{ must: check('conflict.read-again'), fault: { fault: 'conflict' } },
  },
  { file: 'fetch.mjs', mistake: 'rounds ids', must: check('ids.exact'), fault: { fault: 'large-ids' } },
  { file: 'fetch.mjs', mistake: 'overwrites', must: check('updates.not-lost'), fault: { fault: 'conflict' } },
  { file: 'fetch.mjs', mistake: 'renames twice', must: 'twice', fault: { fault: 'lost-answer' } },
  {
    ...{ file: 'fetch.mjs', mistake: 'leaves orders open after errors' },
    ...{ must: 'undone', fault: { fault: 'unavailable' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'takes any order for its own' },
    ...{ must: 'undone', fault: { fault: 'unavailable' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'dates orders too late' },
    ...{ must: 'undone', fault: { fault: 'unavailable' } },
  },
  {
    ...{ file: 'fetch.mjs', mistake: 'leaves the loser running' },
    ...{ must: 'twice', fault: { fault: 'delay', operation: 'placeOrder', delayMs: 7_000 } },
  },

  // Five workers at once.
  { file: 'pool.mjs', lacks },
  ignoresRetryAfter('pool.mjs'),
  ...twice('pool.mjs', 'no key', 'a key for each attempt'),

  // A stream of events.
  {
    // Node.js opens more connections while a stream is open.
    ...{ file: 'events.mjs', lacks: [...lacks, 'connections.reused'] },
  },
  ...['begins anew', 'notes ids too early'].map(
    (mistake): Program => ({
      ...{ file: 'events.mjs', mistake, timeoutMs: 12_000 },
      ...{ must: 'hung', fault: { fault: 'stream-cut' } },
    }),
  ),
  ...['begins anew', 'notes ids too early'].map(
    (mistake): Program => ({
      ...{ file: 'events.mjs', mistake, timeoutMs: 12_000 },
      ...{ must: check('streams.resumed'), fault: { fault: 'stream-cut' } },
    }),
  ),
  {
    ...{ file: 'events.mjs', mistake: 'decodes each piece alone' },
    ...{ must: 'other', fault: { fault: 'stream-pieces' } },
  },
  {
    ...{ file: 'events.mjs', mistake: 'takes a piece for an event', timeoutMs: 12_000 },
    ...{ must: 'hung', fault: { fault: 'stream-pieces' } },
  },
  {
    ...{ file: 'events.mjs', mistake: 'no time limit' },
    ...{ must: check('time-limit.exists'), fault: { fault: 'stream-silent' } },
  },

  // Libraries with retries of their own.
  { file: 'axios.mjs', lacks },
  ...twice('axios.mjs', 'no key', 'a key for each attempt'),
  {
    ...{ file: 'axios.mjs', mistake: 'waits for days' },
    ...{
      must: check('retry-after.obeyed'),
      fault: { fault: 'retry-after-odd', shape: 'thirty-days', operation: 'createCategory' },
    },
  },
  ignoresRetryAfter('axios.mjs'),
  { file: 'got.mjs', lacks },
  ...twice('got.mjs', 'no key'),
  ignoresRetryAfter('got.mjs'),
  { file: 'ky.mjs', lacks },
  ...twice('ky.mjs', 'no key'),
  {
    ...{ file: 'ky.mjs', mistake: 'no time limit for bodies' },
    ...{ must: check('time-limit.exists'), fault: { fault: 'stall' } },
  },
  { file: 'nodehttp.mjs', lacks },
  {
    ...{ file: 'nodehttp.mjs', mistake: 'follows redirects without the body' },
    ...{ must: check('retry.same-body'), fault: { fault: 'moved' } },
  },
  forwardsItsKey('nodehttp.mjs'),
  { file: 'undici.mjs', lacks },
  ...twice('undici.mjs', 'no key'),
  noTimeLimit('undici.mjs'),

  // Python.
  { file: 'requests_shop.py', lacks },
  ...twice('requests_shop.py', 'no key'),
  noTimeLimit('requests_shop.py'),
  {
    ...{ file: 'requests_shop.py', mistake: 'skips what fails' },
    ...{ must: 'undone', fault: { fault: 'unavailable' } },
  },
  {
    ...{ file: 'requests_shop.py', mistake: 'takes its own removal for a failure' },
    ...{ must: 'failed', fault: { fault: 'lost-answer' } },
  },
  { file: 'httpx_shop.py', lacks },
  ...twice('httpx_shop.py', 'a key for each attempt'),
  noTimeLimit('httpx_shop.py'),
  {
    ...{ file: 'httpx_shop.py', mistake: 'reads the first page' },
    ...{ must: check('pages.to-the-end'), fault: { fault: 'small-pages' } },
  },
  { file: 'aiohttp_shop.py', lacks },
  ...twice('aiohttp_shop.py', 'no key'),
  ignoresRetryAfter('aiohttp_shop.py'),
  // urllib opens a connection for each request.
  { file: 'urllib_report.py', lacks: [...lacks, 'connections.reused'] },
  noTimeLimit('urllib_report.py'),
  forwardsItsKey('urllib_report.py'),
  {
    ...{ file: 'urllib_report.py', mistake: 'begins the list anew' },
    ...{ must: 'printed', fault: { fault: 'unavailable' } },
  },
  {
    ...{ file: 'urllib_report.py', mistake: 'never gives up' },
    ...{
      must: check('attempts.bounded'),
      fault: { fault: 'internal-error', operation: 'listPets', times: 25 },
    },
  },

  // Go.
  { file: 'nethttp', lacks },
  ...twice('nethttp', 'no key'),
  {
    ...{ file: 'nethttp', mistake: 'sends the body once' },
    ...{ must: check('retry.same-body'), fault: { fault: 'unavailable' } },
  },
  forwardsItsKey('nethttp'),
  {
    ...{ file: 'nethttp', mistake: 'overwrites after 412' },
    ...{ must: check('conflict.read-again'), fault: { fault: 'conflict' } },
  },
  {
    ...{ file: 'nethttp', mistake: 'ends well after HTML' },
    ...{ must: 'undone', fault: { fault: 'gateway-timeout' } },
  },
  {
    ...{ file: 'nethttp', mistake: 'another date for each attempt' },
    ...{ must: check('retry.same-body'), fault: { fault: 'gateway-timeout' } },
  },
  {
    ...{ file: 'nethttp', mistake: 'no time limit for bodies' },
    ...{ must: check('time-limit.exists'), fault: { fault: 'stall' } },
  },
  { file: 'nethttp', mistake: 'rounds ids', must: check('ids.exact'), fault: { fault: 'large-ids' } },
  { file: 'retryable', lacks },
  ...twice('retryable', 'no key'),
  ignoresRetryAfter('retryable'),

  // A shell.
  { file: 'curl.sh', lacks },
  ...twice('curl.sh', 'no key'),
  { file: 'curl.sh', mistake: 'only reads', lacks, only: ['truncated', 'stall', 'small-pages', 'same-page'] },
  {
    ...{ file: 'curl.sh', mistake: 'takes half a body' },
    ...{ must: 'printed', fault: { fault: 'truncated' } },
  },
];
