import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../src/observe/log/logger.ts';
import { RequestLog } from '../../src/observe/log/requests.ts';

const second = Date.parse('2026-06-01T12:00:00Z');
const facts = { requestId: 'r', method: 'GET', url: '/', address: '::1', status: 200, durationMs: 1.23456 };

/** The request log, and its lines as written. */
function startLog(level: 'info' | 'warn' = 'info') {
  const lines: string[] = [];
  return { lines, log: new RequestLog(createLogger(level, { write: (line) => lines.push(line) })) };
}

function stopClock(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: second });
  return (timeMs: number) => t.mock.timers.setTime(timeMs);
}

test('the line of a request has the known fields, in this order, and nothing else', (t) => {
  stopClock(t);
  const { lines, log } = startLog();
  const id = '9f8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d';
  log.answered({ ...facts, requestId: id });
  log.answered({ ...facts, requestId: id, reason: 'ECONNRESET', url: undefined, durationMs: undefined });
  const start = '{"level":"info","time":"2026-06-01T12:00:00.000Z"';
  const ids = `"reqId":"${id}"`;
  const end = '"msg":"answered","trace_id":"9f8b7c6d5e4f4a3b8c2d1e0f9a8b7c6d"}\n';
  assert.deepEqual(lines, [
    `${start},${ids},"method":"GET","url":"/","status":200,"durationMs":1.235,"address":"::1",${end}`,
    `${start},${ids},"method":"GET","status":200,"address":"::1","reason":"ECONNRESET",${end}`,
  ]);
});

test('any request of a caller is one valid line of JSON', () => {
  const odd = [
    'a"b\\c',
    '\u0000\u0007\b\t\n\r\u001b[2J\u007f\u0085',
    '\u2028\u2029\u202e\ufeff',
    '\ud83d\udc15 \u00e9',
    '\ud800 alone \udfff',
    '"},{"level":"error"',
  ];
  const { lines, log } = startLog();
  for (const text of odd) log.answered({ ...facts, requestId: text, method: text, url: text, address: text });
  for (const [i, text] of odd.entries()) {
    const line = lines[i] as string;
    // A round trip through UTF-8 loses no character.
    assert.equal(Buffer.from(line).toString(), line);
    assert.equal(line.indexOf('\n'), line.length - 1);
    const { reqId, method, url, address, msg } = JSON.parse(line);
    assert.deepEqual([reqId, method, url, address, msg], [text, text, text, text, 'answered']);
  }
});

test('the time of a line has its own millisecond, also at the end of a second and after the clock goes back', (t) => {
  const setTime = stopClock(t);
  const { lines, log } = startLog();
  for (const passedMs of [-1, -1, 0, 1, 999, 1_000, 60_000, -1]) {
    setTime(second + passedMs);
    log.answered(facts);
  }
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).time.slice(11)),
    [
      '11:59:59.999Z',
      '11:59:59.999Z',
      '12:00:00.000Z',
      '12:00:00.001Z',
      '12:00:00.999Z',
      '12:00:01.000Z',
      '12:01:00.000Z',
      '11:59:59.999Z',
    ],
  );
});

test('a log of level warn has no request lines', () => {
  const { lines, log } = startLog('warn');
  log.answered(facts);
  assert.deepEqual(lines, []);
});

test('no secret gets into a request line, whichever field contains it', () => {
  const { lines, log } = startLog();
  const key = `pet_${'k3Y'.repeat(12)}`;
  const encodeEach = (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&');
  for (const secret of [
    key,
    key.replace('p', '%70'),
    key.replace('_', '%255F'),
    encodeEach(key),
    `whsec_${'k3Y'.repeat(10)}`,
    encodeEach(`whsec_${'k3Y'.repeat(10)}`),
    'redis://me:k3Yk3Y@localhost/',
    'redis+sentinel://localhost/pets?sentinel_password=k3Y\\k3Y&sentinel_username=me',
    '"redis+sentinel://localhost/pets?sentinel_username=me&sentinel_password=k3Yk3Y"',
  ]) {
    for (const name of ['requestId', 'method', 'url', 'address', 'reason']) {
      log.answered({ ...facts, caller: undefined, [name]: `a ${secret}` });
    }
    log.close();
  }
  assert.ok(lines.filter((line) => line.includes('answered"')).length >= 35);
  assert.doesNotMatch(lines.join(''), /k3Y|%6b%33%59/i);
});
