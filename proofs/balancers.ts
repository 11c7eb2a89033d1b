/**
 * Freezes and kills instances behind HAProxy and nginx, and checks that no change that took effect gets 412 or 404: `npm run proof -- balancers --rounds N`.
 */
import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, portsOf, sendOnce, startServices } from '../test/support/balanced.ts';
import { readEvents } from '../test/support/history.ts';
import { haproxy, nginx, patientCheck } from '../test/support/load-balancers.ts';
import { fetchChecked } from '../test/support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../test/support/postgres-cluster.ts';
import { readNumbers } from './support/options.ts';

const { rounds } = readNumbers({ rounds: 20 });
const [keys, clients, pauseMs, changesOfPet, calmMs] = [6, 24, 10, 5, 1_500];

/** A change, which its client sent once. */
interface Change {
  method: 'PUT' | 'DELETE' | 'POST';
  /** Unique: the name that it gives a pet, or the id of the pet that it deletes. */
  mark: string | number;
  status: Outcome['status'];
}

/** Clients that change pets of their own until the end. Every second one keeps its connection. None sends a change twice. */
class Writers {
  readonly changes: Change[] = [];
  readonly #running: Promise<unknown>;
  #isOver = false;

  constructor(origin: string, keysOfClients: string[], name: string) {
    const run = async (_: unknown, i: number) => {
      const key = keysOfClients[i % keysOfClients.length] as string;
      const agent = i % 4 < 2 ? new Agent({ keepAlive: true, maxSockets: 1 }) : undefined;
      for (let n = 0; !this.#isOver; n++) await this.#changePet({ origin, key }, `${name}-${i}-${n}`, agent);
      agent?.destroy();
    };
    this.#running = Promise.all(Array.from({ length: clients }, run));
    this.#running.catch(() => {});
  }

  end(): Promise<unknown> {
    this.#isOver = true;
    return this.#running;
  }

  /** Creates a pet, changes it, and deletes it. */
  async #changePet(
    at: { origin: string; key: string },
    mark: string,
    agent: Agent | undefined,
  ): Promise<void> {
    const send = async (method: Change['method'], mark: Change['mark'], path: string, options = {}) => {
      const outcome = await sendOnce(at, method, path, { ...options, ...(agent && { agent }) });
      this.changes.push({ method, mark, status: outcome.status });
      await sleep(pauseMs);
      return outcome;
    };
    const pet = { name: mark, categoryId: 1 };
    const made = await send('POST', mark, '/pets', { body: pet, 'idempotency-key': mark });
    if (made.status !== 201) return;
    const path = `/pets/${made.body.id}`;
    let { etag } = made;
    for (let n = 0; n < changesOfPet; n++) {
      const name = `${mark}-${n}`;
      const changed = await send('PUT', name, path, { body: { ...pet, name }, 'if-match': etag });
      ({ etag } = changed.status === 200 ? changed : await readAgain(at, path));
    }
    await send('DELETE', made.body.id, path);
  }
}

/** A read may be repeated. */
async function readAgain(at: { origin: string; key: string }, path: string): Promise<Outcome> {
  for (;;) {
    const found = await sendOnce(at, 'GET', path);
    if (found.status === 200) return found;
    await sleep(pauseMs);
  }
}

/** Compares what the clients got with what happened. */
function judge(changes: Change[], effects: ReadonlyMap<Change['mark'], number>): string {
  const hasEffect = ({ mark }: Change) => effects.has(mark);
  const each = (['POST', 'PUT', 'DELETE'] as const).map((method) => {
    const own = Map.groupBy(
      changes.filter((change) => change.method === method),
      ({ status }) => status ?? 'no response',
    );
    const counts = [...own].map(
      ([status, all]) => `${status} ${all.length} (${all.filter(hasEffect).length})`,
    );
    return `${method}: ${counts.sort().join(', ')}`;
  });
  const wrong = changes.filter((change) => [404, 409, 412].includes(change.status ?? 0) && hasEffect(change));
  assert.deepEqual(wrong, [], 'a change that took effect got 404, 409 or 412');
  for (const [mark, times] of effects) assert.equal(times, 1, `${mark} happened ${times} times`);
  for (const change of changes)
    if ([200, 201, 204].includes(change.status ?? 0)) assert.ok(hasEffect(change), `${change.mark} is kept`);
  return `status and number (took effect). ${each.join('; ')}`;
}

async function prove(t: TestContext, balancer: typeof haproxy, frozenMs: number): Promise<void> {
  const cluster = await PostgresCluster.start();
  t.after(() => cluster.remove());
  const services = await startServices(t, cluster);
  const { instances, key, restart } = services;
  const shipped = balancer === haproxy ? { [`timeout check ${patientCheck}`]: 'timeout check 600ms' } : {};
  const origin = `http://127.0.0.1:${await balancer.start(t, portsOf(instances), shipped)}`;
  const get = (path: string) => fetchChecked(instances[0].origin, 'GET', path, { key });
  let seen = (await readEvents(get)).length;
  const all = [key, ...(await Promise.all(Array.from({ length: keys - 1 }, () => services.addKey())))];

  const freeze = async (i: number) => {
    instances[i]?.child.kill('SIGSTOP');
    await sleep(frozenMs);
    instances[i]?.child.kill('SIGCONT');
  };
  const kill = async (i: number) => {
    await instances[i]?.stop('SIGKILL');
    await restart(i);
  };
  for (const [name, what, fail] of [
    ['frozen', `frozen for ${frozenMs} ms`, freeze],
    ['killed', 'killed', kill],
  ] as const) {
    const writers = new Writers(origin, all, name);
    t.after(() => writers.end());
    for (let round = 0; round < rounds; round++) {
      await sleep(calmMs);
      await fail(round % instances.length);
    }
    await sleep(calmMs);
    await writers.end();
    const events = await readEvents(get, seen);
    seen += events.length;
    const effects = new Map<Change['mark'], number>();
    for (const { type, data } of events) {
      const { id, name } = data as { id: number; name: string };
      const mark = type === 'pet.deleted' ? id : name;
      effects.set(mark, (effects.get(mark) ?? 0) + 1);
    }
    console.log(`${balancer.name}, ${rounds} times ${what}: ${judge(writers.changes, effects)}`);
  }
}

for (const [balancer, frozenMs] of [
  [haproxy, 1_750],
  [nginx, 8_000],
] as const)
  test(balancer.name, { skip: whyNoPostgres() || balancer.needs.skip }, (t) => prove(t, balancer, frozenMs));
