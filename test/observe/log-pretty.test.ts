import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { createLogger, prettyFor } from '../../src/observe/log/logger.ts';
import { ampleKey, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';
import { atTerminal, needsTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

const esc = '\u001b';
const clock = /^\d\d:\d\d:\d\d {2}/;

/** A logger for people without colours, and its output. */
function prettyLog() {
  let written = '';
  const format = prettyFor('pretty', new PassThrough() as unknown as NodeJS.WriteStream);
  return {
    log: createLogger('info', { write: (line) => (written += line) }, format),
    written: () => written,
  };
}

test('a request is one short readable line, and no field can imitate another', async (t) => {
  const folder = await temporaryStorage(t);
  const env = { LOG_FORMAT: 'pretty', TRUST_PROXY: 'on' };
  const service = await startService(t, folder, env);
  const key = await ampleKey(folder);
  const own = { 'x-api-key': key };
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const forged = `a${' '.repeat(60)}12:00:00  GET /v1/pets  200  1.0 ms`;
  const expected: [query: string, headers: Record<string, string>, RegExp][] = [
    ['?limit=2', own, /^\d\d:\d\d:\d\d {2}GET \/v1\/pets\?limit=2 {2}200 {2}\d+\.\d ms {2}key_\w+$/],
    [`?${'x'.repeat(2_000)}`, own, /^.{10}GET \/v1\/pets\?x{111}… {2}400 {2}/],
    [
      `?key=${key}`,
      from('a\u009b31m'),
      /^.{10}GET \/v1\/pets\?key=pet_\*\*\* {2}401 {2}[\d.]+ ms {2}"a\\u009b31m"$/,
    ],
    ['', from(forged), /^.{10}GET \/v1\/pets {2}401 {2}[\d.]+ ms {2}"a(\\u0020)+[\\u0-9]*…$/],
    ['', from('y'.repeat(1_500)), /^.{10}GET \/v1\/pets {2}401 {2}[\d.]+ ms {2}"y{119}…$/],
    ['', from('key_admin'), /ms {2}"key_admin"$/],
    ['', from('2001:db8::7'), /ms {2}2001:db8::7$/],
  ];
  for (const [query, headers] of expected) await fetch(`${service.origin}/v1/pets${query}`, { headers });
  await service.stop('SIGTERM');
  const lines = service.output().match(/^.* GET \/v1.*$/gm) ?? [];
  assert.equal(lines.length, expected.length);
  for (const [i, [, , line]] of expected.entries()) assert.match(lines[i] as string, line);
});

test('nothing in a line about a request looks like the beginning of another line', () => {
  const { log, written } = prettyLog();
  for (const blank of [' ', '\u00a0', '\t']) {
    const long = `x${blank.repeat(60)}12:00:00${blank}${blank}GET`.repeat(9);
    log.info({ method: long, url: long, status: 200, address: long, reason: long }, 'answered');
    log.info({ method: 'GET', url: '/', status: 200, keyId: long }, 'answered');
  }
  for (const line of written().trimEnd().split('\n')) {
    assert.match(line, clock);
    assert.ok(line.length < 600);
    for (const part of line.split('  ')) assert.match(part, /^(\S+|\S+ \S+)$/);
  }
});

test('an error is printed below its line, and nothing in it looks like another line', () => {
  const { log, written } = prettyLog();
  const error = Object.assign(new Error('first\n12:00:00  GET /forged  200'), { code: 'E_ODD' });
  log.error({ err: error, reqId: 'a b' }, 'failed');
  const [first, ...rest] = written().trimEnd().split('\n');
  assert.match(first ?? '', /^\d\d:\d\d:\d\d {2}ERROR {2}failed {2}reqId="a b"$/);
  assert.ok(rest.length > 3);
  for (const line of rest) assert.match(line, /^ {10}/);
  assert.equal(rest[0]?.trim(), 'Error: first');
  assert.match(rest[2] ?? '', /^ {14}at .*log-pretty\.test/);
  assert.equal(rest.at(-1)?.trim(), 'code=E_ODD');
});

test('control and bidirectional characters are escaped in every field', () => {
  const { log, written } = prettyLog();
  const odd = '\u001b[2J\u0007\r\n\u009b31m\u202e\u2066\u2028\u200f\u{e0001}\ud800.';
  log.info({ method: odd, url: odd, status: odd, keyId: odd, reason: odd }, 'answered');
  log.warn({ [odd]: odd, reqId: odd, list: [odd] }, odd);
  log.error({ err: Object.assign(new Error(odd), { [odd]: odd }) }, odd);
  for (const line of written().split('\n')) assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
  assert.equal(written().match(/^\d\d:\d\d:\d\d {2}/gm)?.length, 3);
  assert.ok(written().includes('\\u001b[2J\\u0007\\u000d\\u000a\\u009b31m\\u202e'));
});

test('secrets stay out of the pretty log, and its long fields are truncated', () => {
  const { log, written } = prettyLog();
  const key = `pet_${'a1'.repeat(18)}`;
  const secret = `whsec_${'b2'.repeat(16)}`;
  const text = `${key} ${secret} redis://me:hunter2@localhost/`;
  for (let at = 900; at <= 1_000; at++)
    log.info({ text: `${'x'.repeat(at)}${text}${'y'.repeat(2_000)}` }, text);
  log.error({ err: Object.assign(new Error(text), { url: text }) }, 'failed');
  log.info({ method: 'GET', url: `/${text}`, status: 200, address: text, reason: text }, 'answered');
  assert.doesNotMatch(written(), /a1|b2|hunter/);
  assert.match(written(), /pet_\*\*\* whsec_\*\*\* redis:\/\/me:\*\*\*@localhost/);
  assert.match(written(), /… \([\d,]+ characters more\)/);
});

describe('at a terminal', { concurrency: true, ...needsTerminal }, () => {
  for (const [what, env, shows] of [
    ['the log is for people, in colours', {}, `${esc}[32m200${esc}[39m`],
    ['NO_COLOR takes the colours out', { NO_COLOR: '1' }, '  200  '],
    ['LOG_FORMAT=json is obeyed', { LOG_FORMAT: 'json' }, '"status":200,'],
  ] as const) {
    test(what, async (t) => {
      const folder = await temporaryStorage(t);
      const settings = { PORT: '0', PETSTORE_DATA_DIR: folder, ...env };
      const { output, type, ended } = atTerminal(t, ['serve'], settings);
      await until(() => /limit=2"/.test(output()));
      const [, key = '', url = ''] = /curl -H "Authorization: Bearer (\S+)" "(\S+)"/.exec(output()) ?? [];
      for (const page of ['reference', 'lab']) assert.ok(output().includes(`/${page}#key=${key}\r\n`));
      await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      await until(() => /GET.*limit=2/s.test(output()));
      type('\u0003');
      assert.equal(await ended, 0);
      const log = output().slice(output().indexOf('limit=2"'));
      assert.ok(log.includes(shows), log);
      assert.equal(log.includes(esc), shows.includes(esc));
    });
  }
});
