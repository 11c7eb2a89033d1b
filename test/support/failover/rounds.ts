import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestDeadlineMs } from '../../../src/db/open.ts';
import { openPostgres } from '../../../src/db/postgres.ts';
import { temporaryFolder } from '../folder.ts';
import { Follower, readEvents, readLists } from '../history.ts';
import { assertInvariants } from '../invariants.ts';
import { fetchChecked } from '../petstore.ts';
import { ampleKey, startService } from '../service.ts';
import { until } from '../until.ts';
import { startFollowers } from './followers.ts';
import { type Attempt, startLoad, type WriteLoad } from './load.ts';
import { startHaproxy, startPair, undecidedMs } from './pair.ts';

/** After the proxy has the writable server, service must resume within this time. */
const resumeWithinMs = 5_000;
/** How long responses of `/readyz` are shared. */
const sharedMs = 250;
const calmMs = 1_000;
/** The first workspace, which has demo data. */
const workspaceId = 1;

export type Way = 'a planned switch' | 'a crash of the primary';

/**
 * Two instances with a primary and its synchronous standby, behind HAProxy, under load. The primary fails in each of these ways, one
 * after the other. Prints a line for each, and fails if an acknowledged write is lost or service does not resume.
 */
export async function* failOver(t: TestContext, ways: Way[], endsSessions: boolean): AsyncGenerator<string> {
  const pair = await startPair(t);
  const haproxy = await startHaproxy(t, pair.backends, endsSessions);
  const leadsTo = (port: number) => until(async () => String(await haproxy.healthy()) === String(port));
  await leadsTo(pair.primary.port);
  const folder = temporaryFolder(t);
  const url = pair.primary.url.replace(`:${pair.primary.port}/`, `:${haproxy.port}/`);
  const env = { DATABASE_URL: url, LOG_LEVEL: 'fatal' };
  const services = [await startService(t, folder, env), await startService(t, folder, env)];
  const key = await ampleKey(folder, env);
  const origins = services.map(({ origin }) => origin);
  const get = (path: string) => fetchChecked(origins[0] as string, 'GET', path, { key });
  const body = { quantity: 1_000_000 };
  await fetchChecked(origins[0] as string, 'PATCH', '/inventory/13', { key, body });
  const [lists, events] = [await readLists(get), await readEvents(get)];
  const followers = await startFollowers(t, origins, key, events.length);
  const load = startLoad(origins, key);
  t.after(() => load.end().catch(() => {}));

  for (const way of ways) {
    await sleep(calmMs);
    const next = pair.standby.port;
    const stopped = Promise.withResolvers<number>();
    const isStopped = () => stopped.resolve(performance.now());
    const gone = way === 'a planned switch' ? pair.switchOver(isStopped) : pair.failOver(isStopped);
    const stoppedMs = await stopped.promise;
    await leadsTo(next);
    const leadsMs = performance.now();
    await gone;
    await load.until(() =>
      origins.every((origin) => load.writes.some((one) => isMade(one, origin, leadsMs))),
    );
    await sleep(resumeWithinMs / 2);
    yield `${way}: ${describeWay(load, origins, stoppedMs, leadsMs)}`;
  }

  await load.end();
  const found = await readLists(get);
  for (const [path, state] of load.ledger) assert.deepEqual(found.get(path), state, `${path} was answered`);
  const added = [...found.keys()].filter((path) => /^.(pets|store)/.test(path) && !lists.has(path));
  assert.equal(added.length, load.ledger.size, 'nothing was made twice');
  const follower = new Follower(lists, events.length);
  const history = await readEvents(get, events.length);
  for (const event of history) follower.follow(event);
  assert.deepEqual(follower.lists, found, 'the events add up to the stored lists');
  await followers.assertDelivered(history);
  const ordered = [...load.ledger.values()].reduce((sum, { quantity }) => sum + Number(quantity ?? 0), 0);
  assert.equal(found.get('/inventory/13')?.quantity, body.quantity - ordered, 'the stock is right');
  const db = await openPostgres(pair.primary.url, requestDeadlineMs);
  t.after(() => db.close());
  await assertInvariants(db.read, workspaceId);
  const count = (attempts: Attempt[], status: number) =>
    attempts.filter((one) => one.status === status).length;
  const { ledger, writes, reads } = load;
  const refused = `${count(writes, 503)} writes and ${count(reads, 503)} reads were refused with 503`;
  yield `${ledger.size} answered writes are all kept, ${history.length} events, all delivered by streams and a webhook; ${refused}`;
}

const isMade = ({ origin, sentMs, status }: Attempt, of: string, afterMs: number) =>
  origin === of && status === 201 && sentMs >= afterMs;

/** Checks the observations of one way, and returns how long it took. */
function describeWay(
  { writes, reads, probes }: WriteLoad,
  origins: string[],
  stoppedMs: number,
  leadsMs: number,
): string {
  const each = origins.map((origin) => {
    const own = (attempts: Attempt[]) =>
      attempts.filter((one) => one.origin === origin && one.doneMs >= stoppedMs);
    const refusals = [...own(writes), ...own(reads)].filter(({ status }) => status === 503);
    const lastRefusedMs = Math.max(stoppedMs, ...refusals.map(({ doneMs }) => doneMs));
    const made = own(writes).find(({ sentMs, status }) => status === 201 && sentMs >= stoppedMs);
    assert.ok(made, 'writes are made again');
    const ready = own(probes).findLast(({ status }) => status !== 200);
    assert.ok(ready, '/readyz reported that nothing can be written');
    assert.equal(own(probes).at(-1)?.status, 200, '/readyz reports that writes work again');
    for (const { sentMs, doneMs, status } of own(probes))
      if (sentMs > stoppedMs + sharedMs && doneMs < stoppedMs + undecidedMs) assert.equal(status, 503);
    const slowestMs = Math.max(
      ...[...own(writes), ...own(reads)].map(({ sentMs, doneMs }) => doneMs - sentMs),
    );
    const lastsMs = lastRefusedMs - leadsMs;
    assert.ok(lastsMs < resumeWithinMs, `503 for ${lastsMs} ms after the proxy led to the primary`);
    const last = lastsMs > 0 ? `the last 503 ${seconds(lastsMs)} after` : 'no 503 after';
    return `instance: a write was made after ${seconds(made.doneMs - stoppedMs)}, ${last}, ready after ${seconds(ready.doneMs - stoppedMs)}, slowest answer ${seconds(slowestMs)}`;
  });
  return [`HAProxy led to the new primary alone after ${seconds(leadsMs - stoppedMs)}`, ...each].join(
    '\n    ',
  );
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
