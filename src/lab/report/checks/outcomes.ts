import { cuts } from '../../attempts.ts';
import type { Recorded } from '../../recordings/recorded.ts';

export const endOf = ({ atMs, tookMs }: Recorded) => atMs + tookMs;

const isTouchedBy = ({ fault = '' }: Recorded, name: string) => fault.split(' ').includes(name);

/** Whether any of some faults touched it. */
export const isTouchedByAny = (request: Recorded, names: readonly string[]) =>
  request.fault !== undefined && names.some((name) => isTouchedBy(request, name));

/** Whether a client sent both on one connection of its own, one after the other. A proxy mixes those of many. */
export const shareConnection = (one: Recorded, other: Recorded) =>
  !one.isProxied && !other.isProxied && one.connection === other.connection;

/** Whether `later` began after `earlier` had ended. On one connection the answer of a request ends before the next request. */
export const follows = (later: Recorded, earlier: Recorded) =>
  later.atMs >= endOf(earlier) || (shareConnection(later, earlier) && later.atMs > earlier.atMs);

export const isSuccess = ({ status = 0 }: Recorded) => (status >= 200 && status < 300) || status === 304;

/** Whether its client left before it had the whole answer, by a time limit of its own or because it was not wanted any more. */
export const isLeft = (request: Recorded) =>
  request.left === true && !request.isProxied && !isTouchedByAny(request, cuts);

/** Whether the service gave no whole answer. Behind a proxy nobody knows what the client got, and a proxy may retry by itself. */
export const isBroken = (request: Recorded) =>
  !request.isProxied &&
  !isLeft(request) &&
  (request.status === undefined || isTouchedBy(request, 'truncated'));

/** The faults that leave open whether something was done. */
export const uncertainFaults: readonly string[] = ['internal-error', ...cuts];

/** The faults that tell how long to wait. */
export const waitFaults: readonly string[] = [
  'rate-limited',
  'rate-limited-date',
  'near-limit',
  'unavailable',
];

const uncertain = [408, 500, 502, 504];

/** Whether the service ended it so that its client cannot know if it took effect. */
const endedUncertain = (request: Recorded) =>
  isBroken(request) || (!isLeft(request) && uncertain.includes(request.status as number));

/** Whether its client cannot know if it took effect, also because it left. */
export const isUncertain = (request: Recorded) => isLeft(request) || endedUncertain(request);

/** Whether the service let it fail in a way that passes. */
export const isTransient = (request: Recorded) =>
  endedUncertain(request) || (!isLeft(request) && (request.status === 429 || request.status === 503));

/** The text of the Idempotency-Key. */
export const idempotencyKeyOf = ({ headers }: Recorded) => headers['idempotency-key'];

/** Whether both are surely attempts at the same, if their fingerprints are equal: a body that was not read may have been another. */
export const isSurelySame = (one: Recorded, other: Recorded) =>
  (!one.isGuessed && !other.isGuessed) ||
  (idempotencyKeyOf(one) !== undefined && idempotencyKeyOf(one) === idempotencyKeyOf(other));
