import { errorCodes } from '../../foundation/errors.ts';
import { connectionFaults, faultsThat } from '../faults/list.ts';
import { endToleranceUs } from '../recordings/link-attempts.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import { earliestRetryMs } from '../recordings/timeline-layout.ts';

export const endOf = ({ atMs, durationMs }: Recorded) => atMs + durationMs;

export const isTouchedByAny = ({ fault }: Recorded, names: readonly string[]) =>
  fault?.split(' ').some((name) => names.includes(name)) ?? false;

/** Whether a client sent both on one connection of its own. A proxy mixes the requests of many clients. */
export const shareConnection = (one: Recorded, other: Recorded) =>
  !one.proxied && !other.proxied && one.connection === other.connection;

/** The earliest time at which the client may have had the complete response. */
export const freeAtMs = (request: Recorded) =>
  endOf(request) - Math.min(endToleranceUs / 1_000, request.durationMs / 2);

/** Whether `later` began after `earlier` ended. On one connection every later request does. */
export const follows = (later: Recorded, earlier: Recorded) =>
  later.atMs >= freeAtMs(earlier) || (shareConnection(later, earlier) && later.atMs > earlier.atMs);

export const isRead = ({ method }: Recorded) => method === 'GET' || method === 'HEAD';

export const isSuccess = ({ status = 0 }: Recorded) => (status >= 200 && status < 300) || status === 304;

/** The faults without a complete response. Under them the client must give up. */
export const silentFaults = faultsThat(({ isSilent }) => isSilent);
/** The faults that end a connection at once. */
const cutFaults = connectionFaults.filter((name) => !silentFaults.includes(name));

/** Whether the client disconnected before the complete response: its timeout ended, or it cancelled the request. */
export const hasDisconnected = (request: Recorded) =>
  request.left === true && !request.proxied && !isTouchedByAny(request, cutFaults);

/** Whether the service sent no complete response. Behind a proxy this is unknown, and the proxy itself may retry. */
export const isBroken = (request: Recorded) =>
  !request.proxied &&
  !hasDisconnected(request) &&
  (request.status === undefined || isTouchedByAny(request, connectionFaults));

/** Statuses after which a request may have taken effect, and those of temporary refusals. */
const uncertain = [408, 500, 502, 504];
const refusedForTime = [429, 503];

/** The code if another attempt with the same `Idempotency-Key` is in progress. */
export const keyInUse = 'idempotency_key_in_use';

/** The names of faults with such an error. */
export const faultsWith = (isSuch: (status: number, code: string) => boolean) =>
  faultsThat(
    ({ errors = [], gatewayStatus }) =>
      errors.some((code) => isSuch(errorCodes[code][0], code)) ||
      (gatewayStatus !== undefined && isSuch(gatewayStatus, '')),
  );

/** The faults after which a client cannot know whether its request took effect. */
export const uncertainFaults = [
  ...faultsWith((status, code) => uncertain.includes(status) || code === keyInUse),
  ...connectionFaults,
];

/** The faults whose responses ask for a wait. */
export const waitFaults = faultsWith((status) => refusedForTime.includes(status));

/** Whether the end of the response leaves the outcome unknown. */
const endedUncertain = (request: Recorded) =>
  isBroken(request) ||
  (!hasDisconnected(request) && (uncertain.includes(request.status as number) || request.code === keyInUse));

/** Whether the client cannot know if the request took effect. */
export const isUncertain = (request: Recorded) => hasDisconnected(request) || endedUncertain(request);

/** Whether the failure is temporary, so a retry may succeed. */
export const isTransient = (request: Recorded) =>
  endedUncertain(request) || (!hasDisconnected(request) && refusedForTime.includes(request.status as number));

/** The earliest time for a request after this one; undefined if the response asks for no wait. */
export const earliestAfter = ({ answerHeaders, atMs }: Recorded) =>
  earliestRetryMs(answerHeaders['retry-after'], atMs);

/** Whether it came before the time that the response to another request asked for. */
export const isEarly = ({ atMs }: Recorded, refused: Recorded) => atMs < (earliestAfter(refused) ?? 0);

export const redirectFaults = faultsThat(({ redirects }) => redirects);

export const isRedirect = ({ status }: Recorded) => status === 307 || status === 308;

export const idempotencyKeyOf = ({ headers }: Recorded) => headers['idempotency-key'];

/** Whether two requests with equal fingerprints are certainly the same request. A body that was not read may differ. */
export const isSurelySame = (one: Recorded, other: Recorded) =>
  (!one.isGuessed && !other.isGuessed) ||
  (idempotencyKeyOf(one) !== undefined && idempotencyKeyOf(one) === idempotencyKeyOf(other));

/** With another value of one of these headers it is another request. */
const deciding = ['content-type', 'if-match', 'if-none-match', 'idempotency-key', 'last-event-id'];

export const hasSameFields = (one: Recorded, other: Recorded) =>
  deciding.every((name) => one.headers[name] === other.headers[name]);
