import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Agent, type IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { type TestContext, test } from 'node:test';
import { operations } from '../../../src/api/operations.ts';
import type { Operation } from '../../../src/http/operation.ts';
import { conflict } from '../../../src/lab/faults/conflict.ts';
import { nextAway } from '../../../src/lab/faults/links.ts';
import { connectionFaults, faults } from '../../../src/lab/faults/list.ts';
import type { Fault } from '../../../src/lab/faults/shared/fault.ts';
import { smallLimit } from '../../../src/lab/faults/small-pages.ts';
import { otherWriters } from '../../../src/lab/petstore/other-writers.ts';
import { petstoreApi } from '../../../src/lab/petstore/petstore-api.ts';
import { namesForBrowsers } from '../../../src/lab/recordings/outcome-kinds.ts';
import type { PlannedFault } from '../../../src/lab/rehearsals/schema.ts';
import { sampleRequest } from '../../../src/reference/description/samples.ts';
import { assertAsDescribed } from '../../support/description.ts';
import { assertTouched, performedOf, quickParameters, rehearse } from '../../support/lab.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { requestOnce } from '../../support/request-once.ts';
import { fill, resources } from '../../support/resources.ts';
import { fileAt } from '../../support/tree.ts';

/** Reads come before writes, and removals last, so that the resource of each example exists. */
const inOrder = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
  operations.filter((operation) => operation.method === method),
);

/** The body of a response as far as it arrives, or the start of a stream. */
async function read(response: IncomingMessage): Promise<string> {
  const isStream = response.headers['content-type']?.startsWith('text/event-stream');
  let text = '';
  response.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    if (isStream && text.includes('\n')) response.destroy();
  });
  await finished(response).catch(() => {});
  return text;
}

/** A client with one connection that stays open. */
function connect(t: TestContext, origin: string, key: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  /** Resolves to undefined if the connection breaks before the head of a response has arrived. */
  return (method: string, path: string, sent?: { body: unknown; mediaType: string }) => {
    const headers = {
      // Some faults need an Idempotency-Key.
      ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
      // Others need a stream that continues.
      ...(path.includes('/stream') && { 'last-event-id': '1' }),
      authorization: `Bearer ${key}`,
      ...(sent?.body !== undefined && { 'content-type': sent.mediaType }),
    };
    const body = JSON.stringify(sent?.body);
    return requestOnce(`${origin}${path}`, { method, agent, headers, body, read }).catch(() => undefined);
  };
}

/** Gives a workspace more items than the smallest page has, and a change of each resource that can change. */
async function fillPages(store: Petstore, { key, workspaceId }: { key: string; workspaceId: number }) {
  await fill(store, key);
  for (const { path, example } of resources) {
    const { body } = await store.call('GET', path, { key });
    for (let count = body.length; count <= smallLimit; count++) {
      const { status, text } = await store.call('POST', path, { key, body: example });
      assert.equal(status, 201, text);
    }
  }
  for (let count = 0; count < smallLimit; count++)
    assert.equal((await store.call('POST', '/store/webhooks/1/ping', { key })).status, 202);
  // Some faults return the state before a change.
  for (const { method, path, params, sampleParams } of operations) {
    const writer = method === 'PUT' || method === 'PATCH' ? otherWriters[path] : undefined;
    const ids = Object.keys(params).map((name) => [name, Number(sampleParams?.[name] ?? 1)]);
    if (writer)
      await store.change(
        (sql) => writer.change(sql, workspaceId, Object.fromEntries(ids), (value) => value),
        workspaceId,
      );
  }
}

/** The sample of an operation. It reads a resource that was changed. */
function sampleOf(operation: Operation) {
  const { path, method } = operation;
  const change = operations.find((other) => other.path === path && other.method === 'PATCH');
  const { sampleParams } = method === 'GET' && change ? change : operation;
  return sampleRequest({ ...operation, ...(sampleParams && { sampleParams }) }, '/v1');
}

/** One rehearsal that performs a fault once on each operation that it fits. */
function plansOf(fault: Fault, fitting: readonly Operation[]): PlannedFault[] {
  const quick = Object.entries(quickParameters).filter(([name]) => name in fault.parameters);
  const plan = { fault: fault.name, ...Object.fromEntries(quick) };
  return fault.takesNoOperation ? [plan] : fitting.map(({ id }) => ({ ...plan, operation: id }));
}

test('each fault, on each operation that it fits, responds as the description says', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const origin = await store.listen();
  for (const fault of faults) {
    await t.test(fault.name, async (t) => {
      const workspace = await store.addWorkspace(fault.name, true);
      const { key } = workspace;
      await fillPages(store, workspace);
      const fitting = inOrder.filter((operation) => fault.fits(operation, petstoreApi));
      const rehearsal = await rehearse(store, plansOf(fault, fitting), { key, expiresInSeconds: 86_400 });
      const send = connect(t, origin, key);
      for (const operation of fitting) {
        // Limits and bans of earlier requests are over.
        store.nowMs += 60_000;
        // Some faults need a connection that was used before.
        await send('GET', '/lab/account');
        const { method, url, ...sent } = sampleOf(operation);
        // This fault needs a page with a next one.
        const limit = fault.name === nextAway.name ? `?limit=${smallLimit}` : '';
        const answer = await send(method, url + limit, sent);
        if (!answer) continue;
        assertAsDescribed(method, url, answer);
        // A fault for all operations also fits those that only accept its values.
        if (!fault.takesNoOperation) assertTouched(answer, rehearsal, fault.name);
      }
      const performed = await performedOf(store, rehearsal.id, key);
      const missed = fitting.filter((_, index) => performed[index] !== 1).map(({ id }) => id);
      if (fault.takesNoOperation) assert.notEqual(performed[0], 0);
      else assert.deepEqual(missed, []);
    });
  }
});

test('faults with a parameter of the same name accept the same values', () => {
  const parameters = faults.flatMap((fault) => Object.entries(fault.parameters));
  for (const [name, same] of Map.groupBy(parameters, ([name]) => name))
    for (const [, schema] of same) assert.deepEqual(schema, same[0]?.[1], name);
});

test('each fault has a worked example for the guide', () => {
  for (const { name } of faults) {
    const path = `src/lab/faults/${name}.md`;
    assert.ok(existsSync(fileAt(path)), `write the example of ${name} in ${path}`);
  }
});

test('browser pages know the faults that end connections, and those of streams', () => {
  const streams = operations.filter(({ success }) => success.kind === 'stream').map(({ id }) => id);
  assert.deepEqual(
    namesForBrowsers,
    { connectionFaults, streams },
    'write the names into src/lab/recordings/outcome-kinds.ts',
  );
});

test('another writer can change each resource of the store before PUT and PATCH', () => {
  const isChange = ({ method }: Operation) => method === 'PUT' || method === 'PATCH';
  // Webhooks are not part of the store's data.
  const changes = operations.filter((operation) => isChange(operation) && !operation.changesWebhooks);
  for (const operation of changes)
    assert.ok(
      conflict.fits(operation, petstoreApi),
      `say in src/lab/petstore/other-writers.ts what another writer changes at ${operation.path}`,
    );
});
