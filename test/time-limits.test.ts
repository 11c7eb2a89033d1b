import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { lingerBytes } from '../src/http/connections.ts';
import { nginxConf } from './support/nginx.ts';
import { startPetstore } from './support/petstore.ts';

const page = (name: string) =>
  readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');

test('the load balancer and the pages on operations and security have the time limits of the service', async (t) => {
  const { server, initialConfig } = (await startPetstore(t, { seed: false })).app;
  const seconds = ({ headersTimeout, requestTimeout, timeout, keepAliveTimeout }: typeof server) =>
    [headersTimeout, requestTimeout, timeout, keepAliveTimeout].map((ms) => ms / 1000);
  const [headers = 0, request = 0, unread = 0, idle = 0] = seconds(server);

  const inNginx = (name: string) =>
    [...nginxConf.matchAll(new RegExp(`^ *${name} (\\d+)s;$`, 'gm'))].map(([, number]) => Number(number));
  assert.deepEqual(inNginx('client_header_timeout'), [headers]);
  assert.deepEqual(inNginx('send_timeout'), [unread]);
  const [toClients, toInstances = 0] = inNginx('keepalive_timeout');
  assert.equal(toClients, unread);
  assert.ok(toInstances < idle);
  const [body = 0] = inNginx('client_body_timeout');
  assert.ok(body > request, 'the service is the first to end a request');
  assert.match(nginxConf, /^ *client_max_body_size 1m;$/m);
  const [, buffers, kibibytes] = /^ *large_client_header_buffers (\d+) (\d+)k;$/m.exec(nginxConf) ?? [];
  const most = 2 ** 20 + Number(buffers) * Number(kibibytes) * 1024;
  assert.ok(lingerBytes > most, 'a reset in the middle would be taken for a broken instance');
  assert.ok((initialConfig.bodyLimit ?? 0) < 2 ** 20);

  assert.equal(headers, unread, 'the page on operations names both at once');
  for (const sentence of [
    `${headers} s for header fields and for a client that does not read`,
    `which answers 408 after ${request} s.`,
    `for less than the ${idle} s after which these end them`,
    `their connection ends after ${unread} to ${2 * unread} s, or after 32 unread answers`,
  ])
    assert.ok(page('operations').includes(sentence), sentence);
  const sentence = `${headers} s for header fields, ${request} s for a request;`;
  assert.ok(page('security').includes(sentence), sentence);
});
