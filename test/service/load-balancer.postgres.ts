import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { portsOf, type RequestWords, sendOnce, startServices } from '../support/balanced.ts';
import { type Changes, haproxy, namesInstance, nginx } from '../support/load-balancers.ts';
import { freePort } from '../support/port.ts';
import { PostgresCluster, whyNoPostgres } from '../support/postgres-cluster.ts';
import { StallingProxy } from '../support/stalling-proxy.ts';
import { until } from '../support/until.ts';

/** How long clients may see effects of a failed instance: the checks detect it in this time. */
const troubleMs = 2_000;
const instanceNames = ['petstore-1', 'petstore-2', 'petstore-3'];
/** A busy machine delays checks and clients. */
const room = 4;
const clients = 12;
const pauseMs = 10;
/** After this many successes in a row, a client has left the failed instance. */
const calm = 15;
/** How long slow writes take: longer than HAProxy needs to notice that an instance has gone. */
const slowMs = 800;

/** Clients that send requests through a load balancer until the test ends. */
class Load {
  /** The successes in a row of each client. */
  readonly #calm = new Array<number>(clients).fill(0);
  /** The number of responses of each instance. */
  readonly #answered = new Map<string, number>();
  #isOver = false;
  failures = 0;
  lastFailureMs = 0;
  longestMs = 0;

  constructor(t: TestContext, origin: string, key: string) {
    const ended = Promise.all(this.#calm.map((_, i) => this.#run(origin, key, i)));
    t.after(() => {
      this.#isOver = true;
      return ended;
    });
  }

  /** Resets the counts. */
  begin(): void {
    this.#calm.fill(0);
    this.#answered.clear();
    [this.failures, this.lastFailureMs, this.longestMs] = [0, 0, 0];
  }

  get isCalm(): boolean {
    return this.#calm.every((count) => count >= calm);
  }

  hasAnswers(instance: string): boolean {
    return (this.#answered.get(instance) ?? 0) >= calm;
  }

  async #run(origin: string, key: string, i: number): Promise<void> {
    const isWriter = i % 2 === 0;
    const body = isWriter ? '{"name":"Dragons"}' : null;
    for (; !this.#isOver; await sleep(pauseMs)) {
      const startMs = performance.now();
      const answer = await fetch(`${origin}/v1/${isWriter ? 'categories' : 'pets/1'}`, {
        method: isWriter ? 'POST' : 'GET',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body,
      }).catch(() => undefined);
      await answer?.text().catch(() => {});
      const endMs = performance.now();
      this.longestMs = Math.max(this.longestMs, endMs - startMs);
      if (answer?.ok) {
        this.#calm[i] = (this.#calm[i] as number) + 1;
        const instance = answer.headers.get('x-instance') as string;
        this.#answered.set(instance, (this.#answered.get(instance) ?? 0) + 1);
      } else {
        this.#calm[i] = 0;
        this.failures++;
        this.lastFailureMs = endMs;
      }
    }
  }
}

suite('instances behind a load balancer', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  async function startBehindHaproxy(t: TestContext, firstsPort?: number, changes: Changes = {}) {
    const behind = await startServices(t, cluster, firstsPort);
    const port = await haproxy.start(t, portsOf(behind.instances), { ...namesInstance, ...changes });
    return { ...behind, origin: `http://127.0.0.1:${port}` };
  }

  test('clients see a failed instance for two seconds at most; it serves again', haproxy.needs, async (t) => {
    const way = await StallingProxy.start(t, cluster.port);
    const { instances, key, origin } = await startBehindHaproxy(t, way.port, haproxy.quick.frozen);
    const [first] = instances;
    const load = new Load(t, origin, key);

    for (const [fault, begin, end] of [
      [
        'refused by PostgreSQL',
        async () => {
          way.targetPort = await freePort();
          way.resume();
        },
        () => {
          way.targetPort = cluster.port;
        },
      ],
      ['without an answer from PostgreSQL', () => way.stall(), () => way.resume()],
      ['frozen', () => first.child.kill('SIGSTOP'), () => first.child.kill('SIGCONT')],
    ] as const) {
      await until(() => instanceNames.every((name) => load.hasAnswers(name)));
      load.begin();
      await begin();
      const beganMs = performance.now();
      await until(() => load.isCalm);
      const { failures, lastFailureMs, longestMs } = load;
      end();
      load.begin();
      const failedMs = failures && lastFailureMs - beganMs;
      t.diagnostic(
        `${fault}: ${failures} failures, the last after ${Math.round(failedMs)} ms; longest wait ${Math.round(longestMs)} ms`,
      );
      assert.ok(failedMs < troubleMs * room, `${fault}: a failure after ${failedMs} ms`);
      assert.ok(longestMs < troubleMs * room, `${fault}: an answer after ${longestMs} ms`);
    }
    await until(() => load.hasAnswers('petstore-1'));
  });

  test('a planned stop breaks no request, even one as long as the checks', haproxy.needs, async (t) => {
    const { instances, key, origin } = await startBehindHaproxy(t);
    const delayed = { fault: 'delay', operation: 'createCategory', times: 1_000, delayMs: slowMs };
    const rehearsal = await fetch(`${origin}/lab/rehearsals`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ faults: [delayed] }),
    });
    assert.equal(rehearsal.status, 201);
    const load = new Load(t, origin, key);
    await until(() => instanceNames.every((name) => load.hasAnswers(name)));
    for (const instance of instances.slice(1)) {
      load.begin();
      // A second signal changes nothing.
      instance.child.kill('SIGTERM');
      assert.deepEqual(await instance.stop('SIGTERM'), { code: 0, signal: null });
      t.diagnostic(`longest wait ${Math.round(load.longestMs)} ms`);
      assert.equal(load.failures, 0);
    }
    assert.ok(load.longestMs >= slowMs);
  });

  test('a change that a frozen instance holds is not sent to another one: its client gets 503', async (t) => {
    const { instances, key, url } = await startServices(t, cluster);
    // In a transaction PostgreSQL shows only what was there when it was first asked.
    const [locker, watcher] = [new Client(url), new Client(url)];
    for (const client of [locker, watcher]) {
      await client.connect();
      t.after(() => client.end());
    }
    /** The names of the instances with a connection to PostgreSQL in this state. */
    const namesWhere = async (state: string): Promise<string[]> => {
      const own = `application_name like 'petstore-%' and ${state}`;
      const { rows } = await watcher.query(
        `select application_name as name from pg_stat_activity where ${own}`,
      );
      return rows.map(({ name }) => name);
    };
    const waiting = () => namesWhere(`wait_event_type = 'Lock'`);

    for (const balancer of [haproxy, nginx])
      await t.test(balancer.name, balancer.needs, async (t) => {
        const port = await balancer.start(t, portsOf(instances), balancer.quick.frozen);
        const send = (...request: RequestWords) =>
          sendOnce({ origin: `http://127.0.0.1:${port}`, key }, ...request);

        /** Sends a write to an instance, which freezes until the load balancer has refused the write or sent it again. */
        async function sendToFrozen(...request: RequestWords) {
          await locker.query('begin');
          await locker.query('select last_id from sequences where workspace_id = 1 for update');
          let isAnswered = false;
          const answer = send(...request).finally(() => {
            isAnswered = true;
          });
          await until(async () => isAnswered || (await waiting()).length > 0);
          const [name] = await waiting();
          const holder = instances[Number(name?.at(-1)) - 1];
          holder?.child.kill('SIGSTOP');
          await until(async () => isAnswered || (await waiting()).length > 1);
          holder?.child.kill('SIGCONT');
          await locker.query('commit');
          const { status } = await answer;
          await until(async () => (await namesWhere(`state <> 'idle'`)).length === 0);
          return status;
        }

        const made = await send('POST', '/pets', { body: { name: 'Rex', categoryId: 1 } });
        const path = `/pets/${made.body.id}`;
        let { etag } = made;
        const change = async (name: string) => {
          const body = { ...made.body, name };
          assert.equal(await sendToFrozen('PUT', path, { body, 'if-match': etag }), 503);
          const found = await send('GET', path);
          etag = found.etag;
          return found.body.name === name;
        };
        const remove = async () => {
          assert.equal(await sendToFrozen('DELETE', path), 503);
          return (await send('GET', path)).status === 404;
        };
        // On a very busy machine the lock lasts too long, and a change does not take effect.
        for (let n = 1; !(await change(`Rex ${n}`)); n++);
        while (!(await remove()));
      });
  });
});
