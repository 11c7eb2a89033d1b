import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { seedWorkspace } from '../../../src/store/demo/seed.ts';
import { clearWorkspace, deleteWorkspace } from '../../../src/store/workspaces/store.ts';
import { pick, type Random, randomFrom } from '../../support/crash/random.ts';
import {
  applyAnyway,
  assertEventsOf,
  type Event,
  Follower,
  isMarker,
  type Lists,
  readEvents,
  readLists,
} from '../../support/history.ts';
import { type Request, request } from '../../support/history-proof.ts';
import { emptyDatabase, load, startInstances } from '../../support/instances.ts';
import type { JsonAnswer, Petstore } from '../../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../../support/postgres-cluster.ts';

const writers = 24;
const writes = 600;
const readers = 4;

suite('the history of several instances', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  test('readers that reconnect get each event once, in order, also over a reset, and late readers end with the same lists', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    const [first, second, third] = instances;
    const get = (path: string) => first.call('GET', path);
    const seeded = await readLists(get);
    const other = await first.addWorkspace('other', true);
    const requests = fc.sample(request, { numRuns: writes, seed: 20_261_121 });
    const random = randomFrom(20_261_121);

    let isWritten = false;
    const reading = Array.from({ length: readers }, () => follow(instances, seeded, random, () => isWritten));
    const joining = join(instances, random, () => isWritten);
    const writing = load(instances, { clients: writers, requests: writes }, async (instance, n) => {
      if (n === writes / 3)
        await third.change((sql) => deleteWorkspace(sql, other.workspaceId), other.workspaceId);
      if (n === writes / 2) await second.change((sql) => reset(sql));
      return send(instance, requests[n] as Request);
    });
    // Only a few: after the deletion they count as guesses of a key, which have a limit.
    const writingToOther = load(instances, { clients: 4, requests: 4 }, async (instance) => {
      let answer: JsonAnswer;
      do answer = await instance.call('POST', '/categories', { key: other.key, body: { name: 'Worms' } });
      while (answer.status === 201);
      return answer;
    });
    const answers = await writing;
    for (const { status } of await writingToOther) assert.equal(status, 401);
    isWritten = true;

    const shown = await readLists(get);
    const [seen, ...others] = await Promise.all(reading);
    for (const { follower } of [seen as Seen, ...others]) assert.deepEqual(follower.lists, shown);
    assert.deepEqual(await joining, shown);
    for (const { events } of others) assert.deepEqual(events, seen?.events);
    const ofRequests = (seen as Seen).events.filter(({ requestId }) => requestId !== undefined);
    assertEventsOf(answers, ofRequests);
    assert.ok(ofRequests.length > writes / 4, String(ofRequests.length));
    const left = await first.db.read`select id from events where workspace_id = ${other.workspaceId}`;
    assert.deepEqual(left, [], 'a history goes with its workspace');
  });
});

async function reset(sql: Parameters<typeof seedWorkspace>[0]): Promise<void> {
  await clearWorkspace(sql, 1);
  await seedWorkspace(sql, 1);
}

function send(instance: Petstore, { method, path, nth, body, idempotencyKey }: Request): Promise<JsonAnswer> {
  const headers = { ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) };
  return instance.call(method, nth === undefined ? path : `${path}/${nth + 1}`, { body, headers });
}

interface Seen {
  follower: Follower;
  events: Event[];
}

/** Reads page after page from any instance, and often loses a part of the page, until all is written and read. */
async function follow(
  instances: Petstore[],
  seeded: Lists,
  random: Random,
  isWritten: () => boolean,
): Promise<Seen> {
  const follower = new Follower();
  const events: Event[] = [];
  for (;;) {
    const isLast = isWritten();
    const path = `/store/events?after=${follower.position}&limit=${1 + random(100)}`;
    const { status, body, headers, text }: JsonAnswer = await pick(instances, random).call('GET', path);
    assert.equal(status, 200, text);
    const arrived: Event[] = random(3) === 0 ? body.slice(0, random(body.length + 1)) : body;
    for (const event of arrived) {
      events.push(event);
      follower.follow(event);
      if (event.type === 'workspace.seeded') follower.lists = new Map(seeded);
    }
    if (isLast && !headers.link && arrived.length === body.length) return { follower, events };
  }
}

/**
 * Reads the lists while others write, and then the events since the start of that read. After each marker it reads the lists again,
 * until all is written and read.
 */
async function join(instances: Petstore[], random: Random, isWritten: () => boolean): Promise<Lists> {
  const get = async (path: string) => pick(instances, random).call('GET', path);
  let position = (await readEvents(get)).at(-1)?.id ?? 0;
  let lists = await readLists(get);
  for (;;) {
    const isLast = isWritten();
    for (const event of await readEvents(get, position)) {
      position = event.id;
      if (isMarker(event)) lists = await readLists(get);
      else applyAnyway(event, lists);
    }
    if (isLast) return lists;
  }
}
