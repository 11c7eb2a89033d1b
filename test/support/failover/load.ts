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

export type WriteLoad = ReturnType<typeof startLoad>;

/** Writes through every instance, reads acknowledged resources back, and watches `/readyz`. */
export function startLoad(origins: string[], key: string) {
  /** The acknowledged resources, by path. */
  const ledger: Lists = new Map();
  const [writes, reads, probes]: [Attempt[], Attempt[], Attempt[]] = [[], [], []];
  let isOver = false;
  let count = 0;
  const clients = origins.flatMap((origin) => [
    probe(origin),
    readBack(origin),
    ...Array.from({ length: writersEach }, () => write(origin)),
  ]);
  const running = Promise.all(clients);
  running.catch(() => {});
  return {
    ...{ ledger, writes, reads, probes },
    /** Waits until something holds, and fails as soon as a response is wrong. */
    until: (holds: () => boolean) => Promise.race([until(holds), running]),
    /** Sends no more requests, and waits for all responses in flight. */
    async end(): Promise<void> {
      isOver = true;
      await running;
    },
  };

  /** Each write is sent until it succeeds, always with the same Idempotency-Key. */
  async function write(origin: string): Promise<void> {
    while (!isOver) {
      const n = ++count;
      const [path, body] =
        n % 2
          ? ['/pets', { name: `Pet ${n}`, categoryId: 1 }]
          : ['/store/orders', { petId, quantity: 1 + (n % 3) }];
      const options = { key, body, headers: { 'idempotency-key': `write-${n}` } };
      const send = () => fetchChecked(origin, 'POST', path as string, options);
      const made = await untilStatus(201, origin, writes, send);
      const at = `${path}/${made.body.id}`;
      assert.ok(!ledger.has(at), `${at} was answered before`);
      ledger.set(at, made.body as State);
      await sleep(pauseMs);
    }
  }

  /** Any instance returns the last acknowledged state of all instances, or 503. */
  async function readBack(origin: string): Promise<void> {
    while (!isOver) {
      const [path, state] = [...ledger].at(-1) ?? ['/inventory', undefined];
      const { body } = await untilStatus(200, origin, reads, () =>
        fetchChecked(origin, 'GET', path, { key }),
      );
      if (state) assert.deepEqual(body, state);
      await sleep(pauseMs);
    }
  }

  async function probe(origin: string): Promise<void> {
    while (!isOver) {
      const sentMs = performance.now();
      const { status } = await fetch(`${origin}/readyz`);
      probes.push({ origin, sentMs, doneMs: performance.now(), status });
      await sleep(probeEveryMs);
    }
  }
}

/** An earlier attempt with a 503 may still be in progress. Its key is in use then. */
async function untilStatus(
  wanted: number,
  origin: string,
  attempts: Attempt[],
  send: () => Promise<JsonAnswer>,
): Promise<JsonAnswer> {
  for (;;) {
    const sentMs = performance.now();
    const answer = await send();
    const { status } = answer;
    attempts.push({ origin, sentMs, doneMs: performance.now(), status });
    if (status === wanted) return answer;
    assert.ok(status === 503 || answer.body?.code === 'idempotency_key_in_use', `${status} ${answer.text}`);
    if (status === 503) assert.ok(Number(answer.headers['retry-after']) >= 1, answer.text);
    await sleep(pauseMs);
  }
}
