import { StorageUnavailableError, toApiError } from '../../foundation/errors.ts';
import { dayMs, hourMs, secondMs } from '../../foundation/time.ts';
import { choice, fault } from './shared/fault.ts';

const shape = choice(
  ['none', 'zero', 'past', 'ten-days', 'thirty-days'],
  'The value of `Retry-After`. `none`: the header is absent. `zero`: `0`. `past`: a date an hour ago. For these three values a good client uses its own backoff. `ten-days` and `thirty-days`: that time in seconds. Then a good client gives up at once and reports it. Thirty days overflow a 32-bit timer in milliseconds.',
);

const retryAfter: Readonly<Record<(typeof shape)['enum'][number], (nowMs: number) => string | undefined>> = {
  none: () => undefined,
  zero: () => '0',
  past: (nowMs) => new Date(nowMs - hourMs).toUTCString(),
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
  does: 'Returns 503 with a valid but unusual `Retry-After`, or without one (RFC 9110, section 10.2.3). The request has no effect.',
  goodClient:
    'Uses its own backoff if `Retry-After` is absent, 0 or in the past. Gives up at once if the wait is too long for its user.',
  whyItMatters:
    'Clients compute NaN or a negative wait, and crash or send in a busy loop. Others sleep for days. In others a 32-bit timer overflows after 2,147,483,647 ms, and they send at once.',
  perform: ({ request, nowMs, parameters }) => {
    const value = retryAfter[parameters.shape](nowMs);
    const refusal = toApiError(new StorageUnavailableError(), request.id);
    throw refusal.withHeaders(value === undefined ? {} : { 'Retry-After': value });
  },
});
