import { headOf } from './link-attempts.ts';
import type { Recorded } from './recorded.ts';
import type { RecordedRequest } from './schema.ts';
import { largeNumbersIn, propertiesOf } from './serialize-request.ts';

/** Requests of one recording as checks read them, in the order of time. They must still have their bodies. */
export function toRecorded(requests: readonly RecordedRequest[]): Recorded[] {
  const keyedHead = ({ fingerprint, headers }: RecordedRequest) =>
    `${headOf(fingerprint)} ${headers['idempotency-key']}`;
  const isRead = ({ bodyBytes }: RecordedRequest) => bodyBytes !== undefined;
  const read = new Set(requests.filter(isRead).map(keyedHead));
  const isKnown = (request: RecordedRequest) =>
    isRead(request) || (request.headers['idempotency-key'] !== undefined && read.has(keyedHead(request)));
  const recorded = requests.map((request): Recorded => {
    const { id, at, offsetMs, durationMs, answerHeaders, proxied, retryOf: _, ...rest } = request;
    const largeNumbers = largeNumbersIn(rest.body ?? '');
    return {
      ...rest,
      number: Number(id),
      // `at` has whole milliseconds.
      atMs: Date.parse(at) + offsetMs - Math.floor(offsetMs),
      tookMs: durationMs,
      answer: answerHeaders,
      isProxied: proxied ?? false,
      ...(largeNumbers.length > 0 && { largeNumbers }),
      ...(rest.fault?.split(' ').includes('conflict') && { properties: propertiesOf(rest.body) }),
      ...(!isKnown(request) && { isGuessed: true as const }),
    };
  });
  return recorded.sort((a, b) => a.atMs - b.atMs || a.number - b.number);
}
