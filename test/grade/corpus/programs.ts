import type { Deviation, Verdict } from '../../../src/grade/grade.ts';
import { checks } from '../../../src/lab/checks/list.ts';
import { parseSelector } from '../../../src/lab/rehearsals/fault-selector.ts';
import type { PlannedFault } from '../../../src/lab/rehearsals/schema.ts';

/** A mistake of a program: a kind of deviation, an end under a fault, or a check that must fail. */
type Mistaken = Deviation['kind'] | Extract<Verdict, 'failed' | 'hung'> | { check: string };

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

/** A program's argument, what its grade must say of it, the fault that shows it, as `--fault` takes it, and the time limit of a run. */
type Mistake = [mistake: string, must: Mistaken, fault?: string, timeoutMs?: number];

const wrong = (file: string, ...mistakes: Mistake[]): Program[] =>
  mistakes.map(([mistake, must, fault, timeoutMs]) => ({
    ...{ file, mistake, must },
    ...(fault && { fault: parseSelector(fault) as PlannedFault }),
    ...(timeoutMs && { timeoutMs }),
  }));

/** These programs do not count the remaining requests. */
const lacks = ['limits.foreseen'];

const twice = (...mistakes: string[]) =>
  mistakes.map((mistake): Mistake => [mistake, 'twice', 'lost-answer']);
const ignoresRetryAfter: Mistake = ['ignores Retry-After', check('retry-after.obeyed'), 'rate-limited'];
const noTimeLimit: Mistake = ['no time limit', check('time-limit.exists'), 'no-answer'];
const noTimeLimitForBodies: Mistake = ['no time limit for bodies', check('time-limit.exists'), 'stall'];
const forwardsItsKey: Mistake = ['forwards its key', check('credentials.not-forwarded'), 'moved-away'];
const readsTheFirstPage: Mistake = ['reads the first page', check('pages.to-the-end'), 'small-pages'];
const roundsIds: Mistake = ['rounds ids', check('ids.exact'), 'large-ids'];
const thirtyDays = 'retry-after-odd:shape=thirty-days,operation=createCategory';

/** Every program of the corpus. */
export const programs: Program[] = [
  // One worker with fetch, in a loop of its own.
  { file: 'fetch.mjs', stopsUnder: ['same-page'] },
  { file: 'fetch.mjs', mistake: 'only reads', stopsUnder: ['same-page'] },
  { file: 'fetch.mjs', mistake: 'prints each page', only: ['small-pages', 'empty-page'] },
  { file: 'fetch.mjs', mistake: 'random names', only: ['lost-answer', 'unavailable', 'unauthorized'] },
  { file: 'fetch.mjs', mistake: 'looks before it sends again', only: ['lost-answer', 'gateway-timeout'] },
  { file: 'fetch.mjs', mistake: 'polls', only: ['internal-error', 'rate-limited', 'lost-answer'] },
  ...wrong(
    'fetch.mjs',
    ...twice('no key', 'no key in the loop', 'a key for each attempt', 'a key for each attempt in the loop'),
    ...twice('removes what it made twice', 'looks on the first page', 'no key with random names'),
    ['no key', 'twice', 'gateway-timeout'],
    ['one key for all orders', check('idempotency.key-for-one-thing')],
    ['another body on retry', 'other', 'unavailable'],
    ['another body on retry', check('retry.same-body'), 'lost-answer'],
    ['waits as long each time', check('backoff.grows'), 'internal-error:times=4'],
    ['retries at once', check('backoff.grows'), 'internal-error:times=4'],
    ['never gives up', check('attempts.bounded'), 'internal-error:operation=createCategory,times=25'],
    ignoresRetryAfter,
    ['trusts Retry-After alone', check('backoff.grows'), 'retry-after-odd:shape=zero,times=4'],
    ['trusts Retry-After alone', check('backoff.grows'), 'retry-after-odd:shape=past,times=4'],
    ['trusts Retry-After alone', check('backoff.grows'), 'retry-after-odd:shape=malformed,times=4'],
    ['waits for ten days', 'hung', 'retry-after-odd:shape=ten-days,operation=createCategory', 10_000],
    ['waits for ten days', check('retry-after.obeyed'), thirtyDays],
    noTimeLimit,
    noTimeLimitForBodies,
    ['retries refusals', 'failed', 'conflict'],
    ['repeats 401', check('retry.only-when-useful'), 'unauthorized:times=3'],
    ['takes a key in use for a refusal', 'failed', 'key-in-use'],
    ['takes every body for JSON', 'failed', 'bad-gateway'],
    ['follows redirects with its key', check('credentials.not-forwarded'), 'moved-away'],
    ['follows redirects by GET', check('retry.same-body'), 'moved'],
    ['follows links for ever', 'hung', 'same-page', 10_000],
    ['follows links with its key', check('credentials.not-forwarded'), 'next-away'],
    ['reads one form of links', check('pages.to-the-end'), 'link-odd:linkForm=unquoted'],
    ['trusts its own clock', 'hung', 'clock-ahead:operation=createCategory', 10_000],
    readsTheFirstPage,
    ['stops at an empty page', check('pages.to-the-end'), 'empty-page'],
    ['swallows errors of later pages', 'undone', 'unavailable'],
    ['prints zero after errors', 'printed', 'unavailable'],
    ['prints zero and goes on', 'printed', 'unavailable:operation=listPets'],
    ['says that the store is down', 'reported', 'unavailable:operation=listPets'],
    ['loses the filter on later pages', 'other', 'small-pages'],
    ['takes dates for numbers', check('retry-after.obeyed'), 'rate-limited-date'],
    ['does not foresee limits', check('limits.foreseen'), 'near-limit'],
    ['retries refusals', check('retry.only-when-useful')],
    ['reads from a cache after 412', check('conflict.read-again'), 'conflict'],
    roundsIds,
    ['overwrites', check('updates.not-lost'), 'conflict'],
    ['renames twice', 'twice', 'lost-answer'],
    ['leaves orders open after errors', 'undone', 'unavailable'],
    ['takes any order for its own', 'undone', 'unavailable'],
    ['dates orders too late', 'undone', 'unavailable'],
    ['leaves the loser running', 'twice', 'delay:operation=placeOrder,delayMs=7000'],
  ),

  // Five workers at once.
  { file: 'pool.mjs', lacks },
  ...wrong('pool.mjs', ignoresRetryAfter, ...twice('no key', 'a key for each attempt')),

  // A stream of events. Node.js opens more connections while it is open.
  { file: 'events.mjs', lacks: [...lacks, 'connections.reused'] },
  {
    ...{ file: 'events.mjs', mistake: 'follows one type', lacks: [...lacks, 'connections.reused'] },
    only: ['stream-cut', 'stream-pieces', 'stream-expired'],
  },
  ...wrong(
    'events.mjs',
    ...['begins anew', 'notes ids too early'].flatMap((mistake): Mistake[] => [
      [mistake, 'hung', 'stream-cut', 12_000],
      [mistake, check('streams.resumed'), 'stream-cut', 12_000],
    ]),
    ['decodes each piece alone', 'other', 'stream-pieces'],
    ['takes a piece for an event', 'hung', 'stream-pieces', 12_000],
    ['no time limit', check('time-limit.exists'), 'stream-silent'],
    ['reads one line of data', 'hung', 'stream-pieces:lineForm=data-lines', 12_000],
    ['knows one line end', 'hung', 'stream-pieces:lineForm=crlf', 12_000],
    ['forgets its position', check('streams.resumed'), 'stream-cut:cut=after-no-id', 12_000],
    ['sends its first position', 'twice', 'stream-cut:cut=second,times=3'],
    ['forgets gaps', check('streams.resumed'), 'stream-expired', 12_000],
  ),

  // Libraries with retries of their own.
  { file: 'axios.mjs', lacks },
  ...wrong(
    'axios.mjs',
    ...twice('no key', 'a key for each attempt'),
    ['waits for days', check('retry-after.obeyed'), thirtyDays],
    ignoresRetryAfter,
  ),
  { file: 'got.mjs', lacks },
  ...wrong('got.mjs', ...twice('no key'), ignoresRetryAfter),
  { file: 'ky.mjs', lacks },
  ...wrong('ky.mjs', ...twice('no key'), noTimeLimitForBodies),
  { file: 'nodehttp.mjs', lacks },
  ...wrong(
    'nodehttp.mjs',
    ['follows redirects without the body', check('retry.same-body'), 'moved'],
    forwardsItsKey,
  ),
  { file: 'undici.mjs', lacks },
  ...wrong('undici.mjs', ...twice('no key'), noTimeLimit),

  // Python.
  { file: 'requests_shop.py', lacks },
  ...wrong(
    'requests_shop.py',
    ...twice('no key'),
    noTimeLimit,
    ['skips what fails', 'undone', 'unavailable'],
    ['takes its own removal for a failure', 'failed', 'lost-answer'],
  ),
  { file: 'httpx_shop.py', lacks },
  ...wrong('httpx_shop.py', ...twice('a key for each attempt'), noTimeLimit, readsTheFirstPage),
  { file: 'aiohttp_shop.py', lacks },
  ...wrong('aiohttp_shop.py', ...twice('no key'), ignoresRetryAfter),
  // urllib opens a connection for each request.
  { file: 'urllib_report.py', lacks: [...lacks, 'connections.reused'] },
  ...wrong(
    'urllib_report.py',
    noTimeLimit,
    forwardsItsKey,
    ['begins the list anew', 'printed', 'unavailable'],
    ['never gives up', check('attempts.bounded'), 'internal-error:operation=listPets,times=25'],
  ),

  // Go.
  { file: 'nethttp', lacks },
  ...wrong(
    'nethttp',
    ...twice('no key'),
    ['sends the body once', check('retry.same-body'), 'unavailable'],
    forwardsItsKey,
    ['overwrites after 412', check('conflict.read-again'), 'conflict'],
    ['ends well after HTML', 'undone', 'gateway-timeout'],
    ['another date for each attempt', check('retry.same-body'), 'gateway-timeout'],
    noTimeLimitForBodies,
    roundsIds,
  ),
  { file: 'retryable', lacks },
  ...wrong('retryable', ...twice('no key'), ignoresRetryAfter),

  // A shell.
  // curl gives up if the date in `Retry-After` is over.
  { file: 'curl.sh', lacks, stopsUnder: ['retry-after-odd'] },
  { file: 'curl.sh', mistake: 'only reads', lacks, only: ['truncated', 'stall', 'small-pages', 'same-page'] },
  ...wrong('curl.sh', ...twice('no key'), ['takes half a body', 'printed', 'truncated']),
];
