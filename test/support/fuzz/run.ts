import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { Agent } from 'node:http';
import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { forgetOldEvents, readEvents } from '../../../src/store/history/store.ts';
import { deleteWorkspace } from '../../../src/store/workspaces/store.ts';
import { type Answer, assertAsDescribed, decoded } from '../description.ts';
import { assertInvariants } from '../invariants.ts';
import type { Petstore } from '../petstore.ts';
import { requestOnce } from '../request-once.ts';
import { described, idempotencyKey, interpret, mayExceedHead, type Wire } from './interpret.ts';
import { type Call, canonical, type Expected, Model } from './model.ts';
import { curlOf, type RequestStep, type Step, step, toWire } from './steps.ts';

const sequencesPerBatch = 20;
const maxStepsPerSequence = 100;
const everMs = Number.MAX_SAFE_INTEGER;

/** Counts a request and its response. */
export function count(report: Report, label: string): void {
  report.requests++;
  report.answers.set(label, (report.answers.get(label) ?? 0) + 1);
}

type Send = (wire: Wire) => Promise<Answer>;

/** The number of sent requests, and of responses by operation and status, to see which were reached. */
export interface Report {
  requests: number;
  answers: Map<string, number>;
}

/**
 * Sends at least `requests` requests in sequences, each in its own workspace, one sequence in five over a socket,
 * and checks every response against the description and the model. Throws with the seed, and with curl lines that repeat
 * the shortest failing sequence.
 */
export async function fuzz(store: Petstore, requests: number, seed: number): Promise<Report> {
  const report: Report = { requests: 0, answers: new Map() };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = { process: inProcess(store), socket: overSocket(await store.listen(), agent) };
  const sequence = fc.record({
    steps: fc.array(step, { minLength: 1, maxLength: maxStepsPerSequence, size: 'max' }),
    way: fc.oneof({ weight: 4, arbitrary: fc.constant('process' as const) }, fc.constant('socket' as const)),
  });
  const property = fc.asyncProperty(sequence, ({ steps, way }) =>
    runSequence(store, steps, send[way], report),
  );
  try {
    for (let batch = seed; report.requests < requests; batch++) {
      await fc.assert(property, { seed: batch, numRuns: sequencesPerBatch, reporter: failWith(batch) });
    }
  } finally {
    agent.destroy();
  }
  return report;
}

/** Without the steps of fast-check: the seed and the requests repeat a failure. */
export function failWith(seed: number) {
  return <Values>({ failed, errorInstance, numShrinks }: fc.RunDetails<Values>) => {
    if (!failed) return;
    const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
    throw new Error(
      `Seed ${seed}, made shorter ${numShrinks} times. "npm run proof -- fuzz --seed ${seed}" repeats it.\n${reason}`,
      { cause: errorInstance },
    );
  };
}

async function runSequence(store: Petstore, steps: Step[], send: Send, report: Report): Promise<void> {
  // Requests without a key are counted by address: each sequence has its own minute.
  store.nowMs += 60_000;
  const { workspaceId, key } = await store.addWorkspace(`fuzz-${store.nowMs}`, true);
  const model = await Model.of(store.db.read, workspaceId);
  const timestamp = new Date(store.nowMs).toISOString();
  model.history.add([{ type: 'workspace.seeded', data: {} }], { timestamp });
  const sequence = beginSequence(key, model, send, timestamp);
  try {
    for (const step of steps) {
      if ('keep' in step) {
        await forgetOldEvents(store.db, { maxAgeMs: everMs, maxCount: step.keep }, store.nowMs);
        sequence.forget(step.keep);
        continue;
      }
      const [operation, status] = await sequence.perform(step);
      count(report, `${operation} ${status}`);
    }
    await assertInvariants(store.db.read, workspaceId);
    await assertStored(store, workspaceId, model);
  } catch (error) {
    const lines = sequence.script.map((line) => line()).join('\n');
    throw new Error(
      `${(error as Error).message}\nAfter the seeded state, the last of these failed:\n${lines}`,
    );
  } finally {
    await store.change((sql) => deleteWorkspace(sql, workspaceId), workspaceId);
  }
}

/** Asserts that the storage equals the model. */
async function assertStored({ db }: Petstore, workspaceId: number, model: Model): Promise<void> {
  const { rows, stock, history } = model;
  const stored = await Model.of(db.read, workspaceId);
  assert.deepEqual({ rows, stock }, { rows: stored.rows, stock: stored.stock });
  const all = { after: 0, upTo: Number.MAX_SAFE_INTEGER, limit: history.events.length + 1 };
  const { events } = await readEvents(db.read, workspaceId, all);
  assert.deepEqual(
    events.map(({ json }) => JSON.parse(json)),
    history.kept,
  );
}

/** Requests in one workspace, one after the other, and their expected responses. `timestamp` is that of all events: the clock is stopped. */
function beginSequence(key: string, model: Model, send: Send, timestamp: string) {
  /** The sent requests, and the same as lines for bash. */
  const sent: Wire[] = [];
  const script: (() => string)[] = [];
  /** First responses by Idempotency-Key. */
  const firsts = new Map<string, { fingerprint: string; answer: Answer }>();
  return { script, forget, perform };

  /** Records that all events but the last `keep` were removed. */
  function forget(keep: number): void {
    model.history.keep(keep);
    script.push(() => `# All but the last ${keep} events are forgotten.`);
  }

  /** Sends the request of a step and checks the response. */
  async function perform(step: RequestStep): Promise<[operation: string, status: number]> {
    const wire = 'again' in step ? sent[step.again % sent.length] : toWire(step, model, key);
    if (!wire || mayExceedHead(wire)) return ['nothing', 0];
    sent.push(wire);
    script.push(() => curlOf(wire, key));
    const meaning = interpret(wire, key, model);
    const answer = await send(wire);
    const url = `${wire.path}${wire.query && `?${wire.query}`}`;
    const what = `${wire.method} ${url} -> ${answer.status} ${answer.text}`;
    assert.ok(answer.status < 500, what);
    assertAsDescribed(wire.method, url, answer);
    if ('statuses' in meaning) {
      const { statuses } = meaning;
      assert.ok(statuses.includes(answer.status), `${what}\nbut it must be ${statuses.join(' or ')}`);
      return ['refused', answer.status];
    }
    check(wire, meaning.call, answer, what);
    return [meaning.call.operationId, answer.status];
  }

  function check(wire: Wire, call: Call, answer: Answer, what: string): void {
    const field = wire.headers['idempotency-key'];
    const key = wire.method === 'POST' && field !== undefined ? idempotencyKey(field) : undefined;
    const fingerprint = `${call.path} ${hash('sha256', wire.body ?? '')}`;
    const first = key === undefined ? undefined : firsts.get(key);
    if (first) {
      assertRepeated(what, first.fingerprint === fingerprint ? first.answer : undefined, answer);
      return;
    }
    const requestId = answer.headers['x-request-id'] as string;
    const expected = model.answer(call, { timestamp, requestId });
    assertExpected(what, wire, expected, answer);
    remember(call, expected, answer);
    if (key !== undefined && answer.status < 300) firsts.set(key, { fingerprint, answer });
  }

  /** Stores values for later requests. Equal representations have equal tags, and others have others. */
  function remember(
    { operationId, path: asked, search }: Call,
    expected: Expected,
    { headers }: Answer,
  ): void {
    const { textByTag, tagByPath, cursors } = model;
    if (headers.etag) {
      const text = canonical(expected.represented ?? (expected.body as object));
      assert.equal(textByTag.get(headers.etag) ?? text, text, 'equal tags have equal representations');
      const path = (headers.location ?? `${asked}?${search}`).replace(/^.*\/v1/, '/v1').replace(/\?$/, '');
      if (tagByPath.has(path) && textByTag.get(tagByPath.get(path) as string) === text) {
        assert.equal(headers.etag, tagByPath.get(path), 'what has not changed keeps its tag');
      }
      textByTag.set(headers.etag, text);
      tagByPath.set(path, headers.etag);
    }
    const cursor = /[?&]cursor=([^&>]+)/.exec(headers.link ?? '')?.[1];
    if (cursor && expected.next !== undefined) cursors.set(cursor, { operationId, after: expected.next });
  }
}

/** The first response again if the request is the same, or 422 for another request. */
function assertRepeated(what: string, first: Answer | undefined, answer: Answer): void {
  if (!first) {
    assert.equal(answer.status, 422, `${what}\nbut the Idempotency-Key was used with another request`);
    return;
  }
  assert.equal(answer.headers['idempotency-replayed'], 'true', what);
  for (const name of ['location', 'etag'])
    assert.equal(answer.headers[name], first.headers[name], `${what}: ${name}`);
  assert.deepEqual([answer.status, answer.text], [first.status, first.text], what);
}

function assertExpected(what: string, { method }: Wire, expected: Expected, answer: Answer): void {
  const { status, code, body, location, next, lastEventId, unknown } = expected;
  assert.equal(answer.status, status, `${what}\nbut the contract says ${status} ${code ?? ''}`);
  assert.equal(answer.headers['idempotency-replayed'], undefined, what);
  assert.equal(answer.headers.location, location, what);
  assert.equal(answer.headers['last-event-id'], lastEventId, what);
  if (status < 300)
    assert.equal(/rel="next"/.test(answer.headers.link ?? ''), next !== undefined, `${what}: Link`);
  if (method === 'HEAD' || status === 304 || status === 204) return;
  if (isEventStream(answer.headers)) return;
  const parsed = JSON.parse(answer.text);
  for (const item of unknown && !code ? [parsed].flat() : []) {
    assert.equal(typeof item[unknown as string], 'string', what);
    delete item[unknown as string];
  }
  if (code) assert.equal(parsed.code, code, what);
  else assert.deepEqual(parsed, body, what);
}

/** Sends requests without a socket. */
export function inProcess({ app }: Petstore): Send {
  return async ({ method, path, query, headers: sent, body }) => {
    const url = `${path}${query && `?${query}`}`;
    const payloadAsStream = decoded(path) === '/v1/store/events/stream';
    const options = { method, url, headers: sent, ...(body !== undefined && { payload: body }) };
    const response = await app.inject({ ...options, payloadAsStream } as InjectOptions);
    const { statusCode: status, headers } = response;
    const text = payloadAsStream ? await beginningOf(response.stream(), headers) : response.body;
    // As a client that disconnects.
    if (isEventStream(headers)) response.raw.res.destroy();
    return { status, headers: headers as Answer['headers'], text };
  };
}

/** The text of a response, but only the first piece of a stream. */
async function beginningOf(response: AsyncIterable<Buffer>, headers: object): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    chunks.push(chunk);
    if (isEventStream(headers)) break;
  }
  return Buffer.concat(chunks).toString();
}

const isEventStream = (headers: { 'content-type'?: unknown }) =>
  String(headers['content-type']).startsWith('text/event-stream');

const overSocket =
  (origin: string, agent: Agent): Send =>
  ({ method, path, query, headers, body }) =>
    requestOnce(`${origin}${path}${query && `?${query}`}`, {
      ...{ method, headers, body, agent },
      read: (response) => beginningOf(response, response.headers),
    });

/** The operations with a successful response. */
export const succeeded = ({ answers }: Report, ids = described.map(({ id }) => id)) =>
  ids.filter((id) => [200, 201, 202, 204].some((status) => answers.has(`${id} ${status}`)));
