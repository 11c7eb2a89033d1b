import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lists, State } from '../history.ts';
import { fetchChecked, type JsonAnswer } from '../petstore.ts';
import { until } from '../until.ts';

const [writersEach, pauseMs, probeEveryMs] = [4, 20, 50];
/** The pet of the orders. */
const petId = 13;

/** One request and its answer, on the clock of `performance.now()`. */
export interface Attempt {
  origin: string;
  sentMs: number;
  doneMs: number;
  status: number;
}

/** Writes through every instance, reads acknowledged resources back, and watches `/readyz`. */
export class WriteLoad {
  /** The acknowledged resources, by path. */
  readonly ledger: Lists = new Map();
  readonly writes: Attempt[] = [];
  readonly reads: Attempt[] = [];
  readonly probes: Attempt[] = [];
  readonly #key: string;
  readonly #running: Promise<void>;
  #isOver = false;
  #count = 0;

  constructor(origins: string[], key: string) {
    this.#key = key;
    const clients = origins.flatMap((origin) => [
      this.#probe(origin),
      this.#readBack(origin),
      ...Array.from({ length: writersEach }, () => this.#write(origin)),
    ]);
    this.#running = Promise.all(clients).then(() => {});
    this.#running.catch(() => {});
  }

  /** Waits until something holds, and fails as soon as a response is wrong. */
  async until(holds: () => boolean): Promise<void> {
    await Promise.race([until(holds), this.#running]);
  }

  /** Sends no more requests, and waits for all responses in flight. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** Each write is sent until it succeeds, always with the same Idempotency-Key. */
  async #write(origin: string): Promise<void> {
    while (!this.#isOver) {
      const n = ++this.#count;
      const [path, body] =
        n % 2
          ? ['/pets', { name: `Pet ${n}`, categoryId: 1 }]
          : ['/store/orders', { petId, quantity: 1 + (n % 3) }];
      const options = { key: this.#key, body, headers: { 'idempotency-key': `write-${n}` } };
      const send = () => fetchChecked(origin, 'POST', path as string, options);
      const made = await this.#untilDone(origin, this.writes, send, [201]);
      const at = `${path}/${made.body.id}`;
      assert.ok(!this.ledger.has(at), `${at} was answered before`);
      this.ledger.set(at, made.body as State);
      await sleep(pauseMs);
    }
  }

  /** Any instance returns the last acknowledged state of all instances, or 503. */
  async #readBack(origin: string): Promise<void> {
    while (!this.#isOver) {
      const [path, state] = [...this.ledger].at(-1) ?? ['/inventory', undefined];
      const read = () => fetchChecked(origin, 'GET', path, { key: this.#key });
      const { body } = await this.#untilDone(origin, this.reads, read, [200]);
      if (state) assert.deepEqual(body, state);
      await sleep(pauseMs);
    }
  }

  /** An earlier attempt with a 503 may still be in progress. Its key is in use then. */
  async #untilDone(
    origin: string,
    attempts: Attempt[],
    send: () => Promise<JsonAnswer>,
    done: number[],
  ): Promise<JsonAnswer> {
    for (;;) {
      const sentMs = performance.now();
      const answer = await send();
      const { status } = answer;
      attempts.push({ origin, sentMs, doneMs: performance.now(), status });
      if (done.includes(status)) return answer;
      assert.ok(status === 503 || answer.body?.code === 'idempotency_key_in_use', `${status} ${answer.text}`);
      if (status === 503) assert.ok(Number(answer.headers['retry-after']) >= 1, answer.text);
      await sleep(pauseMs);
    }
  }

  async #probe(origin: string): Promise<void> {
    while (!this.#isOver) {
      const sentMs = performance.now();
      const { status } = await fetch(`${origin}/readyz`);
      this.probes.push({ origin, sentMs, doneMs: performance.now(), status });
      await sleep(probeEveryMs);
    }
  }
}
