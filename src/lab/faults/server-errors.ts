import type { FastifyRequest } from 'fastify';
import { ApiError, StorageUnavailableError, toApiError } from '../../foundation/errors.ts';
import { dayMs, hourMs, secondMs } from '../../foundation/time.ts';
import type { OperationResponse } from '../../http/responses.ts';
import { reasonPhrase } from '../../http/server-response.ts';
import { responseWriter } from '../../http/write-response.ts';
import { onDisconnect } from './shared/connection-faults.ts';
import { choice, fault } from './shared/fault.ts';
import { retryAfterSeconds } from './shared/limit-refusals.ts';

/** The refusal of a storage that is unavailable, without a cause, which would be logged as a failure. */
const unavailableUntil = (request: FastifyRequest, headers: Record<string, string>) =>
  new ApiError('unavailable', toApiError(new StorageUnavailableError(), request.id).message, headers);

export const unavailable = fault({
  name: 'unavailable',
  isQuick: true,
  parameters: { retryAfterSeconds },
  errors: ['unavailable'],
  group: 'Failures and refusals',
  level: 'required',
  does: 'Returns 503 with `Retry-After`. The request has no effect.',
  goodClient: 'Retries requests that are safe to retry, with backoff.',
  whyItMatters: 'When the service is back, all clients retry at the same time and overload it again.',
  perform: ({ request, parameters }) => {
    throw unavailableUntil(request, { 'Retry-After': String(parameters.retryAfterSeconds) });
  },
});

const shape = choice(
  ['none', 'zero', 'past', 'malformed', 'ten-days', 'thirty-days'],
  'The value of `Retry-After`. `none`: the header is absent. `zero`: `0`. `past`: a date an hour ago. `malformed`: `soon`, which is neither seconds nor a date. For these four values a good client uses its own backoff. `ten-days` and `thirty-days`: that time in seconds. Then a good client gives up at once and reports it. Thirty days overflow a 32-bit timer in milliseconds.',
);

const retryAfter: Readonly<Record<(typeof shape)['enum'][number], (nowMs: number) => string | undefined>> = {
  none: () => undefined,
  zero: () => '0',
  past: (nowMs) => new Date(nowMs - hourMs).toUTCString(),
  malformed: () => 'soon',
  'ten-days': () => String((10 * dayMs) / secondMs),
  'thirty-days': () => String((30 * dayMs) / secondMs),
};

export const retryAfterOdd = fault({
  name: 'retry-after-odd',
  parameters: { shape },
  errors: ['unavailable'],
  undescribed: ['Retry-After'],
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Returns 503 with an unusual or malformed `Retry-After`, or without one (RFC 9110, section 10.2.3). The request has no effect.',
  goodClient:
    'Uses its own backoff if `Retry-After` is absent, malformed, 0 or in the past. Gives up at once if the wait is too long for its user.',
  whyItMatters:
    'Clients compute NaN or a negative wait, and crash or send in a busy loop: the agent pi retried a malformed date at once, and urllib3 raises an error. Others sleep for days. In others a 32-bit timer overflows after 2,147,483,647 ms, and they send at once.',
  perform: ({ request, nowMs, parameters }) => {
    const value = retryAfter[parameters.shape](nowMs);
    throw unavailableUntil(request, value === undefined ? {} : { 'Retry-After': value });
  },
});

export const internalError = fault({
  name: 'internal-error',
  errors: ['internal_error'],
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Returns 500. The request has no effect.',
  goodClient: 'Retries requests that are safe to retry, with backoff, even without `Retry-After`.',
  whyItMatters: 'Clients retry a POST without an `Idempotency-Key`, or never retry after a 500.',
  perform: ({ request }) => {
    throw toApiError(undefined, request.id);
  },
});

export const badGateway = fault({
  name: 'bad-gateway',
  gatewayStatus: 502,
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Returns 502 with an HTML page, like a gateway that cannot reach an instance. The request has no effect.',
  goodClient:
    'Checks the status before it reads the body, and retries requests that are safe to retry, with backoff.',
  whyItMatters:
    'Clients parse the page as JSON. They fail with a syntax error, and do not retry because they never check the status.',
  perform: ({ request, reply }) => {
    responseWriter(undefined)(request, reply, gatewayPage(request, 502));
  },
});

export const gatewayTimeout = fault({
  name: 'gateway-timeout',
  isQuick: true,
  gatewayStatus: 504,
  fits: ({ success }) => success.kind !== 'stream',
  group: 'Failures and refusals',
  level: 'required',
  does: 'Processes the request, commits a change, and returns 504 with an HTML page, like a gateway that timed out.',
  goodClient:
    'Checks the status before it reads the body, and treats the outcome as unknown. It retries. A retried POST has the same `Idempotency-Key` and gets the first response.',
  whyItMatters:
    'Clients send the POST again without an `Idempotency-Key`, and a customer pays twice. Others parse the page as JSON, and report a syntax error instead of 504.',
  perform: ({ request, reply, cutOff }) => {
    onDisconnect(reply, cutOff);
    return { answer: () => gatewayPage(request, 504) };
  },
});

/** The response of a gateway in front of the service: this status and an HTML page. The client gets no error code. */
function gatewayPage(request: FastifyRequest, status: 502 | 504): OperationResponse {
  request.errorCode = undefined;
  const title = `${status} ${reasonPhrase(status)}`;
  const body = `<!DOCTYPE html>
<html lang="en">
<head><title>${title}</title></head>
<body><h1>${title}</h1></body>
</html>
`;
  return { status, headers: {}, body, type: 'text/html', isOfGateway: true };
}
