import assert from 'node:assert/strict';
import { basename } from 'node:path/posix';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Sql } from '../../../src/db/sql.ts';
import type { RowKind } from '../../../src/db/tables.ts';
import { defaults, Model } from '../fuzz/model.ts';
import { type Change, changesBetween, type Event, type Lists, pathOf, type State } from '../history.ts';
import { assertInvariants, assertSound } from '../invariants.ts';
import { fetchChecked, type JsonAnswer } from '../petstore.ts';
import type { Service } from '../service.ts';
import { openTestStorage, testDatabaseUrl } from '../storage.ts';
import type { WritingClient } from './client.ts';
import { pick, type Random } from './random.ts';
import { type HistoryReader, readAnew } from './readers.ts';

/** Pets that every client orders: one with plenty of stock, one that runs out. */
const sharedStocks = [1_000_000, 60];
/** The demo workspace is the first. */
const workspaceId = 1;
/** The number of earlier keyed responses that each round requests again. */
const olderReplays = 50;
const maxLossesShown = 10;

/** The result of one round, as numbers of writes. */
export interface CrashRound {
  answered: number;
  refused: number;
  /** In flight when the service was killed, and how many of them were kept anyway. */
  unanswered: number;
  kept: number;
  replayed: number;
  /** All of their events in the history. */
  events: number;
  /** Requests to the webhook receiver, and how many of them repeated accepted events. */
  received: number;
  again: number;
}

export const noCounts: Readonly<CrashRound> = {
  ...{ answered: 0, refused: 0, unanswered: 0, kept: 0, replayed: 0 },
  ...{ events: 0, received: 0, again: 0 },
};

export interface Write {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: State;
  idempotencyKey?: string;
  /** X-Request-Id, set when it is sent. */
  requestId?: string;
  /** Errors that other clients may cause. */
  refusals?: string[];
}

/** The number at the end of a path. */
export const idOf = (path: string) => Number(/\d+$/.exec(path)?.[0]);

/** The events that the history must have for the writes of a round, by the X-Request-Id of each. */
class ExpectedHistory {
  readonly #writes = new Map<string, { changes: Change[]; paths: Set<string> | undefined }>();

  /** The write made these changes to its own resources. Its effects on others are unknown. */
  expect({ requestId, path }: Write, before: Lists, after: Lists): void {
    const changes = changesBetween(before, after, path.startsWith('/pets'));
    this.#writes.set(requestId as string, { changes, paths: new Set([...before.keys(), ...after.keys()]) });
  }

  /** The write changed nothing. */
  expectNone(requestId: string): void {
    this.#writes.set(requestId, { changes: [], paths: undefined });
  }

  /** Compares the events of the round with the expected ones, and clears these. */
  assertDelivered(events: Event[]): void {
    const byRequest = Map.groupBy(events, ({ requestId }) => requestId);
    for (const [requestId, { changes, paths }] of this.#writes) {
      const all = byRequest.get(requestId) ?? [];
      const own = all.filter((event) => paths?.has(pathOf(event)) ?? true);
      assert.deepEqual(
        own.map(({ type, data, previous }) => ({ type, data, ...(previous && { previous }) })),
        changes,
        `what the history tells of ${requestId}`,
      );
    }
    for (const requestId of byRequest.keys())
      assert.ok(this.#writes.has(requestId as string), `nobody has sent ${requestId}`);
    this.#writes.clear();
  }
}

/** The responses of the service, whose state it must have kept. */
export class Store {
  /** The last acknowledged state of each path; undefined after a removal. */
  readonly #expected = new Map<string, State | undefined>();
  readonly #replayable: { write: Write; answer: JsonAnswer }[] = [];
  /** The responses of the current round. */
  #replayableSince = 0;
  readonly #shared: { petId: number; stock: number }[] = [];
  readonly #folder: string;
  readonly #key: string;
  readonly #history = new ExpectedHistory();
  /** The last event before the round. */
  #position = 1;
  #sent = 0;
  counts!: CrashRound;

  constructor(folder: string, key: string) {
    this.#folder = folder;
    this.#key = key;
  }

  /** Reads the demo data, and adds the shared pets. Returns the initial lists. */
  async begin(service: Service): Promise<Lists> {
    const seeded = await this.#stored(async () => {});
    for (const [path, state] of seeded) this.#expected.set(path, state);
    for (const stock of sharedStocks) {
      const body = { name: 'Shared', categoryId: 1 };
      const petId = (await this.send(service, { method: 'POST', path: '/pets', body })).body.id;
      await this.send(service, { method: 'PATCH', path: `/inventory/${petId}`, body: { quantity: stock } });
      this.#shared.push({ petId, stock });
    }
    return seeded;
  }

  get sharedPetIds(): number[] {
    return this.#shared.map(({ petId }) => petId);
  }

  /** Waits until the first, slow responses of the round are over. */
  async hasAnswered({ child }: Service, writes: number): Promise<void> {
    while (this.counts.answered < writes && !child.killed) await sleep(5);
  }

  state(path: string): State | undefined {
    return this.#expected.get(path);
  }

  /** Sends a write, checks the response, and remembers it. */
  async send(service: Service, write: Write): Promise<JsonAnswer> {
    const { method, path, body, idempotencyKey } = write;
    const requestId = `write-${++this.#sent}`;
    write.requestId = requestId;
    const before = this.#own(path);
    const answer = await fetchChecked(service.origin, method, path, {
      key: this.#key,
      ...(body && { body }),
      headers: { 'x-request-id': requestId, ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) },
    });
    const what = `${method} ${path} ${JSON.stringify(body)} -> ${answer.status} ${answer.text}`;
    if (answer.status >= 400) {
      assert.ok(write.refusals?.includes(answer.body.code), what);
      this.#history.expectNone(requestId);
      return answer;
    }
    const expected = this.after(write);
    if (method === 'POST') {
      assert.deepEqual(answer.body, { ...expected, id: answer.body.id }, what);
      assert.ok(!this.#expected.has(`${path}/${answer.body.id}`), `${what}: the id was given out before`);
    } else if (expected) {
      assert.deepEqual(answer.body, expected, what);
    }
    this.apply(write, answer.body);
    this.#history.expect(write, before, this.#own(method === 'POST' ? `${path}/${answer.body.id}` : path));
    if (idempotencyKey) this.#replayable.push({ write, answer });
    return answer;
  }

  /** The resource after a write; a new one still lacks its id. */
  after({ method, path, body }: Write): State | undefined {
    if (method === 'DELETE') return undefined;
    if (path.startsWith('/inventory/')) {
      return { petId: idOf(path), ...body, status: (body?.quantity as number) > 0 ? 'available' : 'sold' };
    }
    return { ...(method === 'POST' ? defaults[basename(path) as RowKind] : this.state(path)), ...body };
  }

  /** Stores the new state of a resource, and of its counterpart: a pet and its inventory entry share fields. */
  apply({ method, path }: Write, state: State | undefined): void {
    const own = method === 'POST' ? `${path}/${state?.id}` : path;
    const petId = idOf(own);
    this.#expected.set(own, state);
    if (own.startsWith('/pets/')) {
      const item = `/inventory/${petId}`;
      const quantity = this.state(item)?.quantity ?? (state?.status === 'sold' ? 0 : 1);
      this.#expected.set(item, state && { petId, quantity, status: state.status });
    } else if (own.startsWith('/inventory/')) {
      this.#expected.set(`/pets/${petId}`, { ...this.state(`/pets/${petId}`), status: state?.status });
    }
  }

  /** Acknowledged writes are kept exactly, others complete or not at all, and nothing else exists. */
  async assertKept(clients: WritingClient[]): Promise<void> {
    const stored = await this.#stored((sql) => assertInvariants(sql, workspaceId));
    for (const client of clients) {
      const { unanswered } = client;
      if (!unanswered) continue;
      this.counts.unanswered++;
      const kept = this.#findKept(stored, unanswered);
      if (!kept) {
        this.#history.expectNone(unanswered.requestId as string);
        continue;
      }
      this.counts.kept++;
      const before = this.#own(kept.path);
      this.apply(unanswered, kept.state);
      this.#history.expect(unanswered, before, this.#own(kept.path));
      client.own(kept.path);
    }
    this.#settleShared();
    const losses: string[] = [];
    for (const path of new Set([...this.#expected.keys(), ...stored.keys()])) {
      const [answered, found] = [this.state(path), stored.get(path)];
      if (isDeepStrictEqual(answered, found)) continue;
      losses.push(`${path}: answered ${JSON.stringify(answered)}, stored ${JSON.stringify(found)}`);
    }
    if (losses.length > 0) assert.fail(`What is stored is not what was answered:\n${shown(losses)}`);
  }

  /** The history has every kept write, and no other, for new readers and for disconnected ones. */
  async assertDelivered(service: Service, readers: HistoryReader[]): Promise<void> {
    const stored = await this.#stored(async () => {});
    const events = await readAnew(service, this.#key, this.#position);
    for (const reader of readers) {
      await reader.readUpTo(service, this.#position + events.length);
      assert.deepEqual(reader.events.slice(this.#position), events, 'what was seen before the kill is kept');
      assert.deepEqual(reader.follower.lists, stored, 'the events add up to the stored lists');
    }
    this.#history.assertDelivered(events);
    this.#position += events.length;
    this.counts.events = events.length;
  }

  /**
   * The first response is replayed for acknowledged POSTs with an Idempotency-Key: those of the round and
   * some older ones. An unacknowledged one happens now, unless it had happened.
   */
  async assertReplays(service: Service, clients: WritingClient[], random: Random): Promise<void> {
    const older = this.#replayable.slice(0, this.#replayableSince);
    const again = this.#replayable.slice(this.#replayableSince);
    for (let i = 0; i < olderReplays && older.length > 0; i++) again.push(pick(older, random));
    for (const { write, answer } of again) await this.#assertReplayed(service, write, answer.body.id, answer);
    this.#replayableSince = this.#replayable.length;
    for (const client of clients) {
      const { unanswered } = client;
      client.unanswered = undefined;
      if (!unanswered?.idempotencyKey) continue;
      if (client.keptPath) {
        await this.#assertReplayed(service, unanswered, idOf(client.keptPath));
      } else {
        const answer = await this.send(service, unanswered);
        assert.equal(answer.headers['idempotency-replayed'], undefined, answer.text);
        if (answer.status === 201) client.own(`${unanswered.path}/${answer.body.id}`);
      }
    }
  }

  async #assertReplayed(service: Service, write: Write, id: number, first?: JsonAnswer): Promise<void> {
    const { method, path, body, idempotencyKey = '' } = write;
    const headers = { 'idempotency-key': idempotencyKey };
    const answer = await fetchChecked(service.origin, method, path, { key: this.#key, body, headers });
    const what = `${method} ${path} under the key ${idempotencyKey} again -> ${answer.status} ${answer.text}`;
    assert.equal(answer.status, 201, what);
    assert.equal(answer.headers['idempotency-replayed'], 'true', what);
    this.#history.expectNone(answer.headers['x-request-id'] as string);
    assert.equal(answer.body.id, id, what);
    for (const name of first ? ['location', 'etag'] : [])
      assert.equal(answer.headers[name], first?.headers[name], what);
    if (first) assert.equal(answer.text, first.text, what);
    this.counts.replayed++;
  }

  /** The known state of a resource, and of its counterpart. */
  #own(path: string): Lists {
    const id = idOf(path);
    const paths = /^\/(pets|inventory)\/\d/.test(path) ? [`/pets/${id}`, `/inventory/${id}`] : [path];
    return new Map(
      paths.flatMap((path) => {
        const state = this.state(path);
        return state ? [[path, state]] : [];
      }),
    );
  }

  /** The stored state of an unacknowledged write, if it equals the expected result. */
  #findKept(stored: Lists, write: Write): { path: string; state?: State } | undefined {
    const { method, path } = write;
    const after = this.after(write);
    if (method === 'DELETE') return stored.has(path) ? undefined : { path };
    if (method !== 'POST') {
      return isDeepStrictEqual(stored.get(path), after) ? { path, state: after as State } : undefined;
    }
    for (const [path, state] of stored) {
      if (this.#expected.has(path) || !path.startsWith(`${write.path}/`)) continue;
      if (isDeepStrictEqual(state, { ...after, id: state.id })) return { path, state };
    }
    return undefined;
  }

  /** The stock of a shared pet is its initial stock minus the units of its open and complete orders. */
  #settleShared(): void {
    const orders = [...this.#expected].filter(([path]) => path.startsWith('/store/orders/'));
    for (const { petId, stock } of this.#shared) {
      const its = orders.flatMap(([, order]) => (order?.petId === petId ? [order] : []));
      const quantity = stock - its.reduce((units, order) => units + (order.quantity as number), 0);
      const isHeld = its.some((order) => !order.complete);
      const status = quantity > 0 ? 'available' : isHeld ? 'pending' : 'sold';
      this.apply({ method: 'PATCH', path: `/inventory/${petId}` }, { petId, quantity, status });
    }
  }

  /** All rows as responses show them, after `check` and SQLite itself have verified them. */
  async #stored(check: (sql: Sql) => Promise<void>): Promise<Lists> {
    if (!testDatabaseUrl) assertSound(this.#folder);
    const db = await openTestStorage(this.#folder);
    try {
      await check(db.read);
      return (await Model.of(db.read, workspaceId)).lists;
    } finally {
      await db.close();
    }
  }
}

function shown(losses: string[]): string {
  const more = losses.length > maxLossesShown ? [`and ${losses.length - maxLossesShown} more`] : [];
  return [...losses.slice(0, maxLossesShown), ...more].join('\n');
}
