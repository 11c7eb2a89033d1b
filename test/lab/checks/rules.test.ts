import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checks } from '../../../src/lab/checks/list.ts';
import { rewindsStream } from '../../../src/lab/checks/streams.ts';
import { hashOfValue } from '../../../src/lab/recordings/link-attempts.ts';
import { categories, crowd, cut, finds, linkTo, post, sent } from '../../support/findings.ts';
import { recorded, type Sketch } from '../../support/recorded.ts';

test('pages.to-the-end judges only shortened pages, and requires the page that each links to', () => {
  const name = 'pages.to-the-end';
  const to = (cursor: string) => linkTo(`cursor=${cursor}`);
  const at = (cursor: string) => ({ target: `/v1/pets?limit=5&cursor=${cursor}` });
  const short = { fault: 'small-pages' };
  finds(name, [sent(0, to('a'))], 'not_observed');
  finds(name, [sent(0, short, to('a'))], 'failed', [1]);
  finds(name, [sent(0, short, to('a')), sent(9, at('a'))], 'passed', [1]);
  finds(name, [sent(0, short, to('a')), sent(9, at('a'), short, to('b'))], 'failed', [2]);
  // An empty page in the middle links to itself.
  const empty = { ...at('a'), fault: 'empty-page', ...to('a') };
  finds(name, [sent(0, empty)], 'failed', [1]);
  finds(name, [sent(0, empty), sent(9, at('a'))], 'passed', [1]);
  finds(name, [sent(0, short)], 'not_observed');
  // The target http://u:sentinel_password=secret@localhost:8080/v1/pets without its secret, which is no URL.
  const withoutSecret = { target: 'http://u:sentinel_password=***', ...short, ...to('a') };
  finds(name, [sent(0, withoutSecret)], 'failed', [1]);
});

test('pages.filters-kept compares a page with the links of the same position', () => {
  const name = 'pages.filters-kept';
  const list = (at: number, query: string, linked?: string) =>
    sent(at, { target: `/v1/pets?${query}` }, linked === undefined ? {} : linkTo(linked));
  const first = list(0, 'status=sold&limit=2', 'status=sold&limit=2&cursor=a');
  finds(name, [first], 'not_observed');
  finds(name, [first, list(9, 'limit=9&cursor=a&status=sold')], 'passed', [1, 2]);
  finds(name, [first, list(9, 'limit=2&cursor=a')], 'failed', [1, 2]);
  finds(name, [first, list(9, 'limit=2&cursor=b')], 'not_observed');
  // A first page follows no link, even if a link points to one.
  finds(name, [list(0, 'status=sold', 'status=sold'), list(9, 'id=2')], 'not_observed');
  finds(name, [first, list(4, 'limit=2', 'cursor=a'), list(9, 'cursor=a')], 'passed', [2, 3]);
});

test('ids.exact finds ids rounded to a double, and nothing else', () => {
  const name = 'ids.exact';
  const exact = '10000000000000003';
  const rounded = String(Number(exact));
  assert.notEqual(rounded, exact);
  const to = (target: string, at = 0) => ({ at, target });
  finds(name, [to(`/v1/pets/${exact}`), to(`/v1/pets/${rounded}`, 9)], 'failed', [2]);
  for (const [request, result] of [
    [to(`/v1/pets/${exact}`), 'passed'],
    [to(`/v1/pets?id=${exact}&id=${rounded}`), 'failed'],
    [sent(0, post, { body: `{"petId": ${rounded}}` }), 'failed'],
    [sent(0, post, { body: `{"petId": 1.0000000000000004e+16}` }), 'failed'],
    [to('/v1/pets/1.0000000000000004e%2B16'), 'failed'],
    [sent(0, post, { body: `{"name": "no. ${rounded} \\" ${rounded}", "petId": 7}` }), 'not_observed'],
    [to('/v1/pets/9999999999999998'), 'not_observed'],
    [to('/v1/pets/18014398509481984'), 'not_observed'],
    [to('/v1/pets/18014398509481983'), 'passed'],
    [to('/v1/pets/%zz'), 'not_observed'],
    [to(`http://localhost:8080/v1/pets/${rounded}?limit=1`), 'failed'],
    [to(`/v1/pets?id=1%2C${rounded}`), 'failed'],
  ] as const)
    finds(name, [request], result, result === 'not_observed' ? [] : [1]);
});

test('ids.exact is fast on targets that were built to be slow', () => {
  const count = 200;
  for (const part of ['/%', '/%41', '/', '/11111', '?%', '&1e1=%', '&=12e1', ',1e11']) {
    const target = `/v1/pets${part.startsWith('/') ? '' : '?id=%'}${part.repeat(4_000 / part.length)}`;
    const requests = Array.from({ length: count }, (_, at) => ({ at, target }));
    const before = process.cpuUsage();
    finds('ids.exact', requests, 'not_observed');
    const { user } = process.cpuUsage(before);
    assert.ok(user < count * 1_000, `${part}: ${user} µs for ${count} requests`);
  }
});

test('if-match.sent and conflict.read-again do not accept * as a decision', () => {
  const read = (at: number) => ({ at, target: '/v1/pets?id=1' });
  const change = (at: number, tag: string | undefined, status = 200) => ({
    ...{ at, method: 'PATCH', target: '/v1/pets/1', operation: 'updatePet', status },
    ...(tag && { headers: { 'if-match': tag } }),
  });
  finds('if-match.sent', [read(0), change(5, '"a"')], 'passed', [2]);
  finds('if-match.sent', [read(0), change(5, '*')], 'failed', [2]);
  finds('if-match.sent', [change(5, undefined)], 'not_observed');
  finds('if-match.sent', [read(0), { ...change(5, undefined), method: 'DELETE' }], 'not_observed');
  const again = 'conflict.read-again';
  const refused = change(0, '"a"', 412);
  finds(again, [refused, read(5), change(9, '"b"')], 'passed', [1, 3]);
  finds(again, [refused, read(5), change(9, '*')], 'failed', [1, 3]);
  finds(again, [refused, read(5), change(9, '"a"', 412)], 'failed', [1, 3]);
  finds(again, [refused, change(9, '"b"')], 'passed', [1, 2]);
  finds(again, [refused, read(5)], 'passed', [1, 2]);
  const thrice = [refused, read(5), change(9, '"b"', 412), read(12), change(15, '"c"')];
  finds(again, thrice, 'passed', [1, 3, 5]);
  finds(again, [refused], 'not_observed');
  // Another worker may have waited for the connection.
  const busy = { ...read(-5), durationMs: 9, connection: 'c2' };
  finds(again, [busy, refused, change(9, '"a"', 412)], 'not_observed');
  finds(again, [busy, refused, change(9, undefined)], 'not_observed');
  // Or it had read the same.
  const withTag = (at: number) => ({ ...read(at), answerHeaders: { etag: '"a"' } });
  const twice = [change(5, '"a"', 412), change(9, '"a"', 412)];
  finds(again, [withTag(0), withTag(2), ...twice], 'not_observed');
  finds(again, [withTag(0), ...twice], 'failed', [2, 3]);
  // After a temporary failure the same request is sent again.
  const failed = change(4, '"a"', 500);
  finds(again, [withTag(0), withTag(2), failed, ...twice], 'not_observed');
});

test('lifecycle checks observe nothing that is no longer needed', () => {
  const old = { target: '/v1/pets/1', operation: 'getPet' };
  finds('deprecated.not-called', [sent(0, categories)], 'not_observed');
  finds('deprecated.not-called', [sent(0), sent(5, old)], 'failed', [2]);
  const gone = { ...old, status: 410 };
  finds('sunset.successor-used', [sent(0, gone), sent(5, categories)], 'not_observed');
  finds('sunset.successor-used', [sent(0, gone), sent(5)], 'passed', [1, 2]);
  const second = { at: 5, ...gone, connection: 'c2' };
  finds('sunset.successor-used', [sent(0, gone), second], 'failed', [1, 2]);
  finds('sunset.successor-used', [...crowd, sent(0, gone), second], 'not_observed');
});

test('updates.not-lost fails only if the client surely overwrote the change of the other writer', () => {
  const name = 'updates.not-lost';
  const read = { at: 0, target: '/v1/pets?id=1' };
  const otherWriter = { property: 'name', before: '"Rex"' };
  const patch = { at: 5, target: '/v1/pets/1', operation: 'updatePet', method: 'PATCH' };
  const change = { ...patch, fault: 'conflict', otherWriter };
  const renamed = { ...change, values: { name: hashOfValue('Smaug') } };
  finds(name, [read, renamed], 'failed', [2]);
  finds(name, [read, { ...renamed, headers: { 'if-match': '*' } }], 'failed', [2]);
  finds(name, [read, { ...change, values: { status: hashOfValue('sold') } }], 'not_observed');
  finds(name, [read, { ...change, method: 'PUT', operation: 'replacePet' }], 'failed', [2]);
  finds(name, [read, { ...change, method: 'DELETE', operation: 'deletePet' }], 'not_observed');
  finds(name, [read, { ...change, status: 412, headers: { 'if-match': '"a"' } }], 'passed', [2]);
  // The next change undoes the change of this refused one.
  const refused = { ...change, status: 412, headers: { 'if-match': '"a"' } };
  finds(name, [read, refused, { ...renamed, at: 9, fault: '' }], 'not_observed');
  finds(name, [read, { ...renamed, fault: '' }], 'not_observed');
  // A client that never read the resource uses no stale data.
  finds(name, [{ ...read, target: '/v1/pets?id=2' }, renamed], 'not_observed');
});

test('after 412, only a change that restores the value from before the other writer undoes its change', () => {
  const change = { target: '/v1/pets/1', operation: 'replacePet', method: 'PUT' };
  const otherWriter = { property: 'name', before: '"Rex"' };
  const tag = (etag: string) => ({ headers: { 'if-match': etag } });
  const old = { values: { name: hashOfValue('Rex') } };
  const refused = sent(5, change, { fault: 'conflict', status: 412, otherWriter }, tag('"a"'), old);
  const read = (at: number) => ({ at, target: '/v1/pets?id=1' });
  const set = (name: unknown, more: object = {}) =>
    sent(12, change, { values: { name: hashOfValue(name), status: hashOfValue('sold') } }, tag('"b"'), more);
  const cases: [what: string, later: Sketch[], isUndone: boolean][] = [
    ['the old value with a new tag', [read(9), set('Rex')], true],
    ['the new value of the other writer', [read(9), set('Rex (another writer)')], false],
    ['a value of its own', [read(9), set('Smaug')], false],
    ['a patch without the property', [read(9), { ...set('Rex'), method: 'PATCH', values: {} }], false],
    ['the old value, refused', [read(9), set('Rex', { status: 503 })], false],
    ['the old value of another pet', [read(9), set('Rex', { target: '/v1/pets/2' })], false],
  ];
  for (const [what, later, isUndone] of cases) {
    for (const name of ['updates.not-lost', 'conflict.read-again']) {
      const { because } = finds(
        name,
        [read(0), refused, ...later],
        isUndone ? 'failed' : 'passed',
        isUndone
          ? [2, 4]
          : name === 'updates.not-lost'
            ? [2]
            : what === 'the old value of another pet'
              ? [2, 3]
              : [2, 3, 4].filter((id) => id !== 3),
      );
      if (isUndone)
        assert.match(because, /: request 4 set name back to "Rex", the value before request 2 got 412\.$/);
    }
  }
  // A value that was computed anew may be the old one by chance.
  const computed = { ...refused, values: { name: hashOfValue('Smaug') } };
  finds('updates.not-lost', [read(0), computed, read(9), set('Rex')], 'passed', [2]);
  // Two notations of one time are one value, and so are null and no value.
  assert.equal(hashOfValue('2026-11-29T09:30:00Z'), hashOfValue('2026-11-29T10:30:00.000+01:00'));
  assert.equal(hashOfValue(null), hashOfValue(undefined));
  assert.notEqual(hashOfValue('2026'), hashOfValue(2026));
});

test('credentials.not-forwarded and retry.same-body judge the requests after a redirect or a link', () => {
  const away = 'credentials.not-forwarded';
  const to = (host: string, more: object = {}) => ({ host, authorization: '(not kept)', ...more });
  const moved = { ...post, fault: 'moved-away', headers: to('localhost:80', { 'content-length': '12' }) };
  const redirect = { at: 0, ...moved, status: 307, isGuessed: true as const };
  const followed = { at: 9, ...moved, bodyBytes: 12, connection: 'c2' };
  finds(away, [redirect], 'not_observed');
  finds(away, [redirect, { ...followed, headers: to('127.0.0.1:80') }], 'failed', [2]);
  finds(away, [redirect, { ...followed, headers: { host: '127.0.0.1:80', 'x-api-key': '' } }], 'failed', [2]);
  finds(away, [redirect, { ...followed, headers: { host: '127.0.0.1:80' } }], 'passed', [2]);
  finds(away, [redirect, followed], 'not_observed');
  finds(away, [redirect, { ...followed, fault: '' }], 'not_observed');
  const linked = { at: 0, operation: 'listPets', fault: 'next-away', headers: to('localhost:80') };
  const next = { ...linked, at: 9 };
  finds(away, [linked, { ...next, headers: to('127.0.0.1:80') }], 'failed', [2]);
  finds(away, [linked, { ...next, headers: { host: '127.0.0.1:80' } }], 'passed', [2]);
  finds(away, [linked, next], 'not_observed');
  const same = 'retry.same-body';
  finds(same, [redirect, followed], 'passed', [1, 2]);
  finds(same, [redirect, { ...followed, method: 'GET', bodyBytes: 0 }], 'failed', [1, 2]);
  // Without a body, its header fields do not count, and another method counts more than they do.
  const reading = { method: 'GET', target: '/v1/pets', operation: 'listPets', body: '', bodyBytes: 0 };
  const typed = {
    ...redirect,
    ...reading,
    headers: to('localhost:80', { 'content-type': 'application/json' }),
  };
  const untyped = { ...followed, ...reading, headers: to('localhost:80') };
  finds(same, [typed, untyped], 'passed', [1, 2]);
  const put = (id: number, type: string) => ({
    method: 'PUT',
    target: `/v1/pets/${id}`,
    headers: to('localhost:80', { 'content-type': type }),
  });
  const retyped = [
    { ...redirect, ...put(1, 'a') },
    { ...followed, ...put(1, 'b') },
  ];
  assert.match(finds(same, retyped, 'failed', [1, 2]).because, /but with another content-type/);
  const asGet = [redirect, { ...followed, method: 'GET', bodyBytes: 0 }];
  const both = finds(
    same,
    [...retyped, ...asGet.map((one) => ({ ...one, at: one.at + 50 }))],
    'failed',
    [1, 2, 3, 4],
  );
  assert.match(both.because, /request 4 repeats request 3, but as GET\.$/);
  const empty = { ...followed, bodyBytes: 0, headers: to('localhost:80') };
  finds(same, [redirect, empty], 'failed', [1, 2]);
  // It is the same request, sent wrongly.
  const keyed = (headers: object) => ({ headers: { ...headers, 'idempotency-key': 'k' } });
  const pair = [
    { ...redirect, ...keyed(redirect.headers) },
    { ...empty, ...keyed(empty.headers) },
  ];
  const { because } = finds(same, pair, 'failed', [1, 2]);
  assert.match(because, /^The client repeated 1 request with a change: .* without its body\.$/);
  finds('idempotency.key-for-one-thing', pair, 'not_observed');
});

test('time-limit.exists uses only silence that the service ended for a waiting client', () => {
  const name = 'time-limit.exists';
  const silent = { at: 0, durationMs: 30_000, fault: 'no-answer', ...cut };
  const { because } = finds(name, [silent], 'failed', [1]);
  assert.match(because, /Its timeout is longer than 30\.0 s, if it has one\.$/);
  // A good client may wait this long.
  finds(name, [{ ...silent, durationMs: 19_000 }], 'not_observed');
  finds(name, [{ ...silent, durationMs: 5_000, left: true }], 'passed', [1]);
  finds(name, [{ ...silent, durationMs: 5_000, left: true, fault: 'stall', status: 200 }], 'passed', [1]);
  finds(name, [{ ...silent, proxied: true as const }], 'not_observed');
  finds(name, [{ ...silent, fault: 'lost-answer', left: true }], 'not_observed');
  finds(name, [sent(0, { durationMs: 30_000, fault: 'delay' })], 'not_observed');
  const stream = { at: 0, durationMs: 50_000, fault: 'stream-silent', operation: 'streamEvents' };
  finds(name, [stream], 'failed', [1]);
  finds(name, [{ ...stream, durationMs: 41_000, silenceMs: 40_000 }], 'passed', [1]);
  finds(name, [{ ...stream, durationMs: 40_000 }], 'not_observed');
  finds(name, [{ ...stream, fault: 'stream-cut' }], 'not_observed');
  finds(name, [{ ...silent, fault: 'delay', durationMs: 5_000, left: true }], 'passed', [1]);
});

const stream = (at: number, lastEventId?: string) => ({
  ...{ at, operation: 'streamEvents', target: '/v1/store/events/stream', connection: `c${at}` },
  ...(lastEventId !== undefined && { headers: { 'last-event-id': lastEventId } }),
});
const streamCut = { ...stream(0, '4'), fault: 'stream-cut', cutEventId: '7' };
const list = { at: 60, operation: 'listEvents', target: '/v1/store/events?after=4' };

test('a stream was opened again too early if it goes back to events that had arrived', () => {
  const filtered = { target: '/v1/store/events/stream?type=pet.created' };
  for (const [position, other, expected] of [
    ['6', {}, false],
    ['5', {}, true],
    // Events of other types may lie in between.
    ['5', filtered, false],
  ] as const) {
    const again = recorded({ ...streamCut, ...other }, { ...stream(50, position), ...other });
    assert.equal(rewindsStream(again), expected, JSON.stringify([position, other]));
  }
  assert.equal(rewindsStream(recorded(streamCut, { ...stream(50, '5'), ...filtered })), false);
});

test('streams.resumed requires a client to continue after the last complete event', () => {
  const name = 'streams.resumed';
  finds(name, [streamCut], 'not_observed');
  finds(name, [streamCut, stream(50, '6')], 'passed', [1, 2]);
  finds(name, [streamCut, stream(50, '7')], 'failed', [1, 2]);
  finds(name, [streamCut, { ...stream(50), target: '/v1/store/events/stream?after=7' }], 'failed', [1, 2]);
  // As doubles these ids are equal.
  const largeCut = { ...streamCut, cutEventId: '10000000000000005' };
  finds(name, [largeCut, stream(50, '10000000000000003')], 'passed', [1, 2]);
  finds(name, [largeCut, stream(50, '10000000000000005')], 'failed', [1, 2]);
  // Events in between are lost, unless the client reads them in the list.
  finds(name, [streamCut, stream(50)], 'failed', [1, 2]);
  finds(name, [streamCut, stream(50), list], 'not_observed');
  finds(name, [streamCut, stream(50), { ...list, at: -50 }], 'failed', [1, 2]);
  // The end of the first stream was recorded late.
  finds(name, [{ ...streamCut, durationMs: 90 }, stream(50)], 'failed', [1, 2]);
  // A stream with other filters is another one.
  const ofPets = (at: number, id?: string) => ({
    ...stream(at, id),
    target: '/v1/store/events/stream?type=pet.created',
  });
  finds(name, [streamCut, ofPets(50), stream(60, '6')], 'passed', [1, 3]);
  finds(name, [streamCut, ofPets(50)], 'not_observed');
  finds(name, [{ ...streamCut, ...ofPets(0) }, ofPets(50)], 'failed', [1, 2]);
  // Another worker has a stream of its own.
  finds(name, [{ ...streamCut, durationMs: 30 }, stream(5), stream(50, '6')], 'passed', [1, 3]);
  // A stream from another position is another request.
  const refused = { ...stream(0, '4'), status: 410, code: 'events_expired', fault: 'stream-expired' };
  finds('retry.only-when-useful', [refused, stream(50)], 'passed', [1]);
  finds('retry.only-when-useful', [refused, stream(50, '4')], 'failed', [1, 2]);
  // After 410 any list tells what was missed.
  const expired = { ...stream(0, '4'), status: 410, fault: 'stream-expired' };
  finds(name, [expired], 'not_observed');
  finds(name, [expired, stream(50)], 'failed', [1, 2]);
  finds(name, [expired, { at: 20, operation: 'listPets', target: '/v1/pets' }, stream(50)], 'not_observed');
  // A silent stream sent no event.
  const silent = { ...stream(0), durationMs: 45_000, fault: 'stream-silent', silenceMs: 45_000 };
  finds(name, [silent, stream(45_500, '7')], 'passed', [1, 2]);
  finds(name, [silent, stream(45_500)], 'failed', [1, 2]);
  finds(name, [{ ...silent, fault: '' }, stream(45_500)], 'not_observed');
});

test('no check finds anything in an empty recording', () => {
  for (const { name } of checks) finds(name, [], 'not_observed');
});
