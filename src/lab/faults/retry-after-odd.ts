import { ApiError, StorageUnavailableError, toApiError } from '../../foundation/errors.ts';
import type { Fields } from '../../foundation/field-names.ts';
import { dayMs, hourMs, secondMs } from '../../foundation/time.ts';
import { choice, fault } from './shared/fault.ts';

const daysInSeconds = (days: number) => String((days * dayMs) / secondMs);

const shape = choice(
  ['none', 'zero', 'past', 'ten-days', 'thirty-days'],
  'What `Retry-After` says. `none`: the field is absent, so a good client waits by a backoff of its own. `zero` is `0`, and `past` a date an hour ago: both mean "now", and a good client still does not come back sooner than its own backoff lets it. `ten-days` and `thirty-days`, in seconds: a good client gives up at once and reports it. Thirty days are more milliseconds than a 32-bit timer holds.',
);

const retryAfter: Readonly<Record<(typeof shape)['enum'][number], (nowMs: number) => string | undefined>> = {
  none: () => undefined,
  zero: () => '0',
  past: (nowMs) => new Date(nowMs - hourMs).toUTCString(),
  'ten-days': () => daysInSeconds(10),
  'thirty-days': () => daysInSeconds(30),
};

export const retryAfterOdd = fault({
  name: 'retry-after-odd',
  parameters: { shape },
  errors: ['unavailable'],
  undescribed: ['Retry-After'],
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Answers 503 with a `Retry-After` that is valid and rare, or without one (RFC 9110, section 10.2.3). Nothing was done.',
  goodClient:
    'Waits by a backoff of its own if no time is told, or one that is over. Gives up at once if the wait is longer than its user would wait.',
  consequence:
    'Clients get NaN or a negative wait from the field, and crash or send in a busy loop. Others sleep for days. A timer of 32 bits overflows after 2,147,483,647 ms, and they send at once.',
  perform: ({ request, nowMs, parameters }) => {
    const { code, message } = toApiError(new StorageUnavailableError(), request.id);
    const value = retryAfter[parameters.shape](nowMs);
    const headers: Fields = value === undefined ? {} : { 'Retry-After': value };
    throw new ApiError(code, message, headers);
  },
});
