import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestDeadlineMs } from '../../src/db/open.ts';
import { lingerBytes } from '../../src/http/connections.ts';
import { maxDelayPassedOnMs } from '../../src/lab/lab-bounds.ts';
import { drainMs } from '../../src/service/service.ts';
import { haproxy, nginx } from '../support/load-balancers.ts';
import { startPetstore } from '../support/petstore.ts';
import { textOf } from '../support/tree.ts';

const page = (name: string) => textOf(`docs/${name}.md`).replaceAll(/\s+/g, ' ');

/** The guide to events promises a comment within this time. */
const signOfLifeMs = 15_000;

test('the load balancers and the pages on operations and security have the time limits of the service', async (t) => {
  const { server, initialConfig } = (await startPetstore(t, { seed: false })).app;
  const seconds = ({ headersTimeout, requestTimeout, timeout, keepAliveTimeout }: typeof server) =>
    [headersTimeout, requestTimeout, timeout, keepAliveTimeout].map((ms) => ms / 1000);
  const [headers = 0, request = 0, unread = 0, idle = 0] = seconds(server);

  const inNginx = (name: string) =>
    [...nginx.conf.matchAll(new RegExp(`^ *${name} (\\d+)s;$`, 'gm'))].map(([, number]) => Number(number));
  assert.deepEqual(inNginx('client_header_timeout'), [headers]);
  assert.deepEqual(inNginx('send_timeout'), [unread]);
  const [toClients, toInstances = 0] = inNginx('keepalive_timeout');
  assert.equal(toClients, unread);
  assert.ok(toInstances < idle);
  const [body = 0] = inNginx('client_body_timeout');
  assert.ok(body > request, 'the service is the first to end a request');
  assert.match(nginx.conf, /^ *client_max_body_size 1m;$/m);
  const [, buffers, kibibytes] = /^ *large_client_header_buffers (\d+) (\d+)k;$/m.exec(nginx.conf) ?? [];
  const most = 2 ** 20 + Number(buffers) * Number(kibibytes) * 1024;
  assert.ok(lingerBytes > most, 'a reset in the middle would be taken for a broken instance');
  assert.ok((initialConfig.bodyLimit ?? 0) < 2 ** 20);
  const [answerMs = 0, ...long] = inNginx('proxy_read_timeout').map((number) => number * 1000);
  assert.ok(answerMs > Math.max(requestDeadlineMs, maxDelayPassedOnMs));
  assert.deepEqual(long, [30_000, 30_000, 30_000]);
  assert.ok(30_000 > signOfLifeMs);

  const [connection = 0] = inNginx('proxy_timeout');
  assert.ok(connection > 30, 'it ends no connection that waits for a response');

  const inHaproxy = (name: string) => {
    const [, number, unit] = new RegExp(`^ *timeout ${name} (\\d+)(m?s)$`, 'm').exec(haproxy.conf) ?? [];
    return Number(number) / (unit === 'ms' ? 1000 : 1);
  };
  assert.equal(inHaproxy('http-request'), headers);
  assert.equal(inHaproxy('http-keep-alive'), unread);
  assert.ok(inHaproxy('client') > request);
  assert.ok(inHaproxy('server') * 1000 > Math.max(signOfLifeMs, maxDelayPassedOnMs));
  assert.ok(haproxy.conf.includes(`wait-for-body time ${request}s `));
  assert.match(haproxy.conf, /req\.body_size gt 1048576 /);

  for (const sentence of [
    `${headers} s for headers, and no idle connection longer than ${unread} s. A client that does not read loses its connection after ${inHaproxy('client')} s (HAProxy) or ${connection} s (nginx).`,
    `The service returns 408 after ${request} s.`,
    `Close idle connections to instances within ${idle} s.`,
    `their connection ends after ${unread} s, or after 32 unread responses`,
  ])
    assert.ok(`${page('operations')} ${page('operations/load-balancer')}`.includes(sentence), sentence);
  const sentence = `${headers} s for headers, ${request} s for a request.`;
  assert.ok(page('security').includes(sentence), sentence);
});

test('HAProxy detects a frozen instance within two seconds, and a stop a second before it ends the connections', () => {
  const numberOf = (pattern: RegExp) => Number(pattern.exec(haproxy.conf)?.[1]);
  const [everyMs, soonerMs, answerMs] = [/ inter (\d+)ms/, / fastinter (\d+)ms/, /timeout check (\d+)ms/].map(
    numberOf,
  ) as [number, number, number];
  assert.equal(numberOf(/ fall (\d+) /), 2);
  // It freezes right after a check, and two checks fail.
  assert.ok(everyMs + answerMs + soonerMs + answerMs <= 2_000);
  assert.ok(everyMs + answerMs + 1_000 <= drainMs + soonerMs);
});
