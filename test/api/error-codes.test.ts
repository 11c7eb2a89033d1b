import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../src/foundation/errors.ts';
import type { Operation } from '../../src/http/operation.ts';
import { faults } from '../../src/lab/faults/list.ts';
import { labQuota, maxResetRows } from '../../src/lab/lab-bounds.ts';
import { labOperations } from '../../src/lab/petstore/petstore-api.ts';
import { sampleRequest } from '../../src/reference/description/samples.ts';
import type { JsonObject } from '../../src/reference/description/schemas.ts';
import { apis, type description, resolve } from '../support/description.ts';
import { fillLab } from '../support/fill-lab.ts';
import { addCategories } from '../support/lab.ts';
import { type CallOptions, type JsonAnswer, type Petstore, startPetstore } from '../support/petstore.ts';
import { fill } from '../support/resources.ts';

/** Codes that no single request can cause. Other tests cover them. */
const uncaused: ErrorCode[] = ['request_timeout', 'headers_too_large', 'http_version_not_supported'];

const missing = 4711;

/** The `Accept` of all requests. */
let accept = '*/*';

/** The path below which an operation stands. */
const startOf = (operation: Operation) =>
  apis.find(({ operations }) => operations.includes(operation))?.start as string;

/** The example request of an operation, with some parts replaced. */
async function send(
  store: Petstore,
  operation: Operation,
  { path = '', params, headers, ...options }: CallOptions & { path?: string; params?: number } = {},
): Promise<JsonAnswer> {
  const start = startOf(operation);
  const { method, url, body } = sampleRequest(operation, start);
  const target = params === undefined ? url : start + operation.path.replaceAll(/{\w+}/g, String(params));
  return store.send(method, target + path, {
    ...(body && { body }),
    ...options,
    headers: { accept, ...headers },
  });
}

/** A key whose lab quota is used up. The quota covers all lab operations together. */
async function keyWithoutLab(store: Petstore): Promise<string> {
  const { key } = await store.addKey('enterprise');
  for (let i = 0; i < labQuota.perMinute; i++)
    await store.app.inject({ url: '/lab/x', headers: { 'x-api-key': key } });
  return key;
}

/** Sends a new Idempotency-Key for a key that has used up its Idempotency-Keys. */
async function withoutRoom(store: Petstore, operation: Operation): Promise<JsonAnswer> {
  await store.change(
    (sql) => sql`
      insert into idempotency_hours (workspace_id, account, hour, kept, bytes)
      select workspace_id, ${`${startOf(operation).slice(1)} `} || id, ${Math.floor(store.nowMs / 3_600_000)}, 1000000000, 0
      from api_keys where true
      on conflict (workspace_id, account, hour) do update set kept = excluded.kept`,
  );
  const answer = await send(store, operation, { headers: { 'idempotency-key': 'one-more' } });
  await store.change((sql) => sql`delete from idempotency_hours`);
  return answer;
}

/** How to cause each code. */
const causes: Partial<Record<ErrorCode, (store: Petstore, operation: Operation) => Promise<JsonAnswer>>> = {
  invalid_json: (store, operation) => send(store, operation, { body: '{' }),
  invalid_request: (store, operation) => send(store, operation, { path: '?unknown=1' }),
  invalid_reference: (store, operation) => {
    const { body } = sampleRequest(operation, '');
    return send(store, operation, { body: { ...body, categoryId: missing, petId: missing } });
  },
  unauthorized: (store, operation) => send(store, operation, { key: null }),
  not_found: (store, operation) => send(store, operation, { params: missing }),
  conflict: async (store, operation) => {
    if (operation.id === 'resetWorkspace') {
      const [newest] = await store.db.read`select max(id) from workspaces`;
      await addCategories(store, Number(newest?.[0]), maxResetRows, 1_000);
      const answer = await send(store, operation);
      await store.change((sql) => sql`delete from categories where id >= 1000`);
      return answer;
    }
    if (operation.method === 'POST') return withoutRoom(store, operation);
    if (operation.id === 'deleteCategory') return send(store, operation, { params: 1 });
    if (operation.id === 'deletePet') return send(store, operation, { params: 3 });
    // The units of an order cannot return to a stock at its maximum.
    await store.call('PATCH', '/inventory/13', { body: { quantity: 2 ** 31 - 1 } });
    return send(store, operation, { params: 3, ...(operation.body && { body: { quantity: 1 } }) });
  },
  idempotency_key_in_use: async (store, operation) => {
    const headers = { 'idempotency-key': 'twin' };
    const answers = [send(store, operation, { headers }), send(store, operation, { headers })];
    return (await Promise.all(answers)).find(({ status }) => status === 409) as JsonAnswer;
  },
  insufficient_stock: (store, operation) => send(store, operation, { body: { petId: 3, quantity: 1_000 } }),
  order_complete: (store, operation) =>
    send(store, operation, { params: 1, ...(operation.body && { body: { quantity: 2 } }) }),
  events_expired: async (store, operation) => {
    await store.change((sql) => sql`delete from events where id = 1`);
    return send(store, operation, { path: '?after=0' });
  },
  precondition_failed: (store, operation) => send(store, operation, { headers: { 'if-match': '"other"' } }),
  payload_too_large: (store, operation) => send(store, operation, { body: ' '.repeat(65_537) }),
  unsupported_media_type: (store, operation) =>
    send(store, operation, { body: '{}', headers: { 'content-type': 'none' } }),
  idempotency_key_reused: async (store, operation) => {
    const headers = { 'idempotency-key': 'once' };
    await store.call('POST', '/categories', { headers, body: { name: 'Dragons' } });
    return send(store, operation, { headers });
  },
};

/** Whether other tests return the code: `every-fault.test.ts` those of faults. */
const isElsewhere = (code: ErrorCode) =>
  uncaused.includes(code) || faults.some(({ errors = [] }) => errors.includes(code));

/** The codes that the description names for an operation. */
function codesOf({ path, method }: Operation, document: typeof description): ErrorCode[] {
  const responses = Object.values<JsonObject>(document.paths[path][method.toLowerCase()].responses);
  return responses.flatMap((response) => {
    const { content = {} } = resolve(response, document) as {
      content?: Record<string, { examples?: object }>;
    };
    return Object.keys(content['application/json']?.examples ?? {}) as ErrorCode[];
  });
}

test('each operation can return each error that its description lists', async (t) => {
  const ending = await startPetstore(t, { enforceSunset: true });
  ending.nowMs = Date.parse('2031-01-01T00:00:00Z');
  causes.gone = (_, operation) => send(ending, operation);
  const store = await startPetstore(t, { seed: false });
  const exhausted = await keyWithoutLab(store);
  causes.rate_limited = async (_, operation) => {
    if (labOperations.some((one) => one === operation)) return send(store, operation, { key: exhausted });
    const { key } = await store.addKey('enterprise', { perMinute: 1, perDay: 1 });
    await store.call('GET', '/pets', { key });
    return send(store, operation, { key });
  };
  const all = apis.flatMap(({ operations, description }) =>
    operations.map((operation) => ({ operation, codes: codesOf(operation, description) })),
  );
  for (const [index, { operation, codes }] of all.entries()) {
    accept = index % 2 === 0 ? '*/*' : 'application/problem+json';
    store.key = (await store.addWorkspace(operation.id, true)).key;
    await fill(store);
    await fillLab(store);
    for (const code of codes.filter((code) => causes[code] || !isElsewhere(code))) {
      // A workspace is reset once a second.
      store.aheadMs += 1_000;
      const { body, text } = (await causes[code]?.(store, operation)) ?? {};
      assert.equal(body?.code, code, `${operation.id}: ${text}`);
    }
  }
});
