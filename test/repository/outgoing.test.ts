import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { request } from 'node:http';
import { test } from 'node:test';
import { described } from '../support/fuzz/interpret.ts';
import { startListening } from '../support/petstore.ts';
import { listenOnBoth } from '../support/receiver.ts';
import { resources } from '../support/resources.ts';
import { root, textOf } from '../support/tree.ts';

/**
 * Modules that open no connection. Every other module is listed, except the program's own. Programs in threads are also files of the
 * service, so this test reads them.
 */
const silentModules = `
  node:async_hooks node:buffer node:crypto node:events node:fs node:fs/promises node:os node:path node:readline
  node:sqlite node:string_decoder node:timers/promises node:tty node:url node:util node:v8 node:worker_threads node:zlib
  @bomb.sh/tab/commander commander fastify ipaddr.js lru-cache marked minisearch pino prom-client
  typebox typebox/format typebox/schema yaml`.split(/\s+/);
/** Exports of other modules that open no connection either. */
const silentNames = ['isIP', 'isIPv6', 'createServer'];

/** Modules that browsers run. There a policy allows requests only to the service (test/lab/page/page.test.ts). */
const forBrowsers = /^src\/(?:lab\/page|reference\/pages\/page|access\/keys\/tab-key\.ts)/;

const importOf = /^(?:import|export)\s+(type\s)?([\w\s*{},]*?)\s*(?:\bfrom\s*)?['"]([^'"]+)['"]/gm;
const dynamicImport = /\bimport\(([^)]*)\)/g;
const globals = /\b(?:fetch|WebSocket|EventSource|XMLHttpRequest|WebTransport|require|getBuiltinModule)\b/g;

/** Everything in a program that could open a connection. */
function waysOut(program: string): string[] {
  const imported = [...program.matchAll(importOf)].flatMap(([, isType, names = '', module = '']) => {
    const values = names.split(/[{},]/).map((name) => name.trim());
    const isSilent = values.every((name) => !name || name.startsWith('type ') || silentNames.includes(name));
    return isType || (names && isSilent) ? [] : [module];
  });
  const loaded = [...program.matchAll(dynamicImport)].map(
    ([call, argument = '']) => /^['"](.*)['"]$/.exec(argument.trim())?.[1] ?? call,
  );
  const modules = [...imported, ...loaded].filter(
    (name) => !/^(?:\.\.?\/|#)/.test(name) && !silentModules.includes(name),
  );
  return [...new Set([...modules, ...(program.match(globals) ?? [])])];
}

test('the service connects only to its storage, Valkey, webhooks and a collector of traces', () => {
  const found = globSync(['bin/*.js', 'scripts/package/*.js', 'src/**/*.ts'], { cwd: root })
    .filter((path) => !forBrowsers.test(path))
    .sort()
    .map((path) => [path, waysOut(textOf(path))])
    .filter(([, ways]) => ways?.length);
  assert.deepEqual(Object.fromEntries(found), {
    // To run the Node.js that npm installed.
    'bin/petstore.js': ['node:child_process', 'node:module'],
    'src/access/limits/valkey.ts': ['iovalkey'],
    'src/db/postgres-client.ts': ['pg'],
    'src/db/postgres-errors.ts': ['pg'],
    'src/db/postgres-migrate.ts': ['pg'],
    'src/db/postgres-pools.ts': ['pg'],
    'src/db/postgres-read-query.ts': ['pg'],
    'src/db/postgres.ts': ['pg'],
    // For the class of responses, and the names of statuses.
    'src/http/server-response.ts': ['getBuiltinModule'],
    // To the collector, if an operator turned traces on.
    'src/foundation/tracer.ts': ['@opentelemetry/api', '@opentelemetry/sdk-trace-base'],
    'src/observe/traces.ts': [
      '@opentelemetry/api',
      '@opentelemetry/sdk-trace-base',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
    ],
    // In the names of header fields.
    'src/lab/recordings/serialize-request.ts': ['fetch'],
    // Loads SQLite without its warning.
    'src/service/start/from-code/store.ts': ['getBuiltinModule'],
    // The client calls the app of its own process, without a connection.
    'src/service/start/from-code/lab.ts': ['fetch'],
    'src/http/inject-fetch.ts': ['light-my-request', 'fetch'],
    // Handles messages of agents, with requests to the app of its own process.
    'src/mcp/call-tool.ts': ['fetch'],
    'src/mcp/server.ts': ['@modelcontextprotocol/server', 'fetch'],
    // Runs esbuild, which builds programs for browsers from files.
    'src/foundation/distribution/tree.ts': ['node:child_process'],
    // In the name of a policy for browsers.
    'src/accounts/join-page.ts': ['require'],
    'src/lab/serve-lab-page.ts': ['require'],
    // In the text of samples.
    'src/reference/description/samples.ts': ['fetch'],
    // Commands, not the service: to the API, to an address from the user, and to the recorded or graded client.
    'src/cli/find-service.ts': ['fetch'],
    'src/service/start/running-service.ts': ['fetch'],
    'src/foundation/spawn-user-program.ts': ['cross-spawn'],
    'src/cli/webhooks.ts': ['fetch'],
    'src/grade/receiver/deliver.ts': ['node:http', 'node:https'],
    // The client that programs import, not the service: to the API.
    'src/client/connect.ts': ['fetch'],
    'src/client/options.ts': ['fetch'],
    'src/client/send.ts': ['fetch'],
    // To the receivers of webhooks.
    'src/store/webhooks/target-policy.ts': ['node:dns', 'node:dns/promises'],
    'src/store/webhooks/send-request.ts': ['node:https', 'getBuiltinModule'],
  });
});

test('the search for outgoing connections finds one', () => {
  for (const [program, way] of [
    ["import { request } from 'node:https';", 'node:https'],
    ["import { isIP, connect } from 'node:net';", 'node:net'],
    ["import http, { type Agent } from 'http';", 'http'],
    ["import * as net from 'node:net';", 'node:net'],
    ["import\n  'undici';", 'undici'],
    ["export { connect } from 'node:net';", 'node:net'],
    ["const { connect } = await import('node:tls');", 'node:tls'],
    ['await import(name);', 'import(name)'],
    ['await fetch(url);', 'fetch'],
    ['const send = globalThis.fetch;', 'fetch'],
    ['new WebSocket(url);', 'WebSocket'],
    ["process.getBuiltinModule('net')", 'getBuiltinModule'],
  ] as const) {
    assert.deepEqual(waysOut(program), [way], program);
  }
  assert.deepEqual(waysOut("import { isIP, type Socket } from 'node:net'; import './app.ts';"), []);
});

test('the service does not connect to an address that a request contains', async (t) => {
  const { port, connections } = await listenOnBoth(t);
  const url = `http://127.0.0.1:${port}/`;
  const store = await startListening(t);
  const body = {
    ...{ name: url, description: url, url, callbackUrl: url, webhook: url, $ref: url, $schema: url },
    ...{ categoryId: 1, quantity: 1 },
  };
  const headers = () => ({
    ...Object.fromEntries(['origin', 'referer', 'link', 'location', 'callback'].map((name) => [name, url])),
    ...{ host: `127.0.0.1:${port}`, 'x-forwarded-host': `127.0.0.1:${port}`, forwarded: `for="${url}"` },
    ...{ 'x-callback-url': url, 'x-original-url': url, 'idempotency-key': `"${url}${randomUUID()}"` },
  });
  // A seeded workspace has one event.
  const ids: Record<string, number> = { eventId: 1 };
  for (const { param, path } of resources)
    ids[param] = (await store.call('POST', path, { headers: headers(), body })).body.id;
  const isLast = ({ method }: (typeof described)[number]) => Number(method === 'DELETE');
  for (const operation of described.toSorted((a, b) => isLast(a) - isLast(b))) {
    const { id, pattern, params } = operation;
    // A stream has no end, and HEAD uses such fields in the same way.
    const method = id === 'streamEvents' ? 'HEAD' : operation.method;
    let path = pattern.source.slice(1, -1).replaceAll('\\/', '/');
    for (const [name] of params) path = path.replace('([^/]+)', String(ids[name] ?? 1));
    const sent = ['GET', 'HEAD', 'DELETE'].includes(method) ? undefined : body;
    const answer = await store.send(method, path, { headers: headers(), body: sent });
    assert.ok(answer.status < 300, `${id} does what it is asked: ${answer.status} ${answer.text}`);
    const query = `url=${encodeURIComponent(url)}&callback=${url}`;
    await store.send(method, `${path}?${query}`, { headers: headers(), body: sent });
    const absolute = request({
      ...{ port: store.port, method, path: url.slice(0, -1) + path },
      headers: { ...headers(), 'x-api-key': store.key, 'content-type': 'application/json' },
    });
    const [response] = await once(absolute.end(sent && JSON.stringify(sent)), 'response');
    const expected = method === 'DELETE' ? 404 : answer.status;
    assert.equal(response.resume().statusCode, expected, `${id} does the same for such a target`);
  }
  assert.equal(connections(), 0);
  await fetch(url);
  assert.equal(connections(), 1, 'it would have been noticed');
});
