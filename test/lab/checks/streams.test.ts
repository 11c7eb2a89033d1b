import { test } from 'node:test';
import { finds } from '../../support/findings.ts';

const stream = (at: number, lastEventId?: string) => ({
  ...{ at, operation: 'streamEvents', target: '/v1/store/events/stream', connection: `c${at}` },
  ...(lastEventId !== undefined && { headers: { 'last-event-id': lastEventId } }),
});
const cut = { ...stream(0, '4'), fault: 'stream-cut', cutEventId: '7' };
const list = { at: 60, operation: 'listEvents', target: '/v1/store/events?after=4' };

test('streams.resumed requires a client to continue after the last complete event', () => {
  const name = 'streams.resumed';
  finds(name, [cut], 'not_observed');
  finds(name, [cut, stream(50, '6')], 'passed', [1, 2]);
  finds(name, [cut, stream(50, '7')], 'failed', [1, 2]);
  finds(name, [cut, { ...stream(50), target: '/v1/store/events/stream?after=7' }], 'failed', [1, 2]);
  // As doubles these ids are equal.
  const largeCut = { ...cut, cutEventId: '10000000000000005' };
  finds(name, [largeCut, stream(50, '10000000000000003')], 'passed', [1, 2]);
  finds(name, [largeCut, stream(50, '10000000000000005')], 'failed', [1, 2]);
  // Events in between are lost, unless the client reads them in the list.
  finds(name, [cut, stream(50)], 'failed', [1, 2]);
  finds(name, [cut, stream(50), list], 'not_observed');
  finds(name, [cut, stream(50), { ...list, at: -50 }], 'failed', [1, 2]);
  // The end of the first stream was recorded late.
  finds(name, [{ ...cut, durationMs: 90 }, stream(50)], 'failed', [1, 2]);
  // Another worker has a stream of its own.
  finds(name, [{ ...cut, durationMs: 30 }, stream(5), stream(50, '6')], 'passed', [1, 3]);
  // A silent stream sent no event.
  const silent = { ...stream(0), durationMs: 45_000, fault: 'stream-silent', silenceMs: 45_000 };
  finds(name, [silent, stream(45_500, '7')], 'passed', [1, 2]);
  finds(name, [silent, stream(45_500)], 'failed', [1, 2]);
  finds(name, [{ ...silent, fault: '' }, stream(45_500)], 'not_observed');
});
