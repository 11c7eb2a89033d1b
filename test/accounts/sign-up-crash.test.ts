import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createInvite } from '../../src/accounts/invites.ts';
import { freePort } from '../support/port.ts';
import { startService } from '../support/service.ts';
import { openTestStorage, temporaryStorage } from '../support/storage.ts';

const people = 100;

test('a kill -9 among sign-ups loses no confirmed one and counts none twice: of 100 people who repeat, exactly 30 get in, each to its own workspace and limits', async (t) => {
  const folder = await temporaryStorage(t);
  const port = String(await freePort());
  const first = await startService(t, folder, { PORT: port });
  const db = await openTestStorage(folder);
  t.after(() => db.close());
  const usual = { plan: 'free', upgrades: [], uses: 30, expiresAtMs: Date.now() + 3_600_000 } as const;
  const { id, code } = await db.write((sql) => createInvite(sql, usual, Date.now()));

  let isAnswered = () => {};
  const someAnswered = new Promise<void>((resolve) => {
    let left = 8;
    isAnswered = () => --left === 0 && resolve();
  });
  /** Repeats the request until it has a response, and once more after that. */
  const join = async (name: string) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const body = JSON.stringify({ invite: code, name });
    const answers: { status: number; text: string }[] = [];
    while (answers.length < 2) {
      try {
        const response = await fetch(`${first.origin}/accounts`, { method: 'POST', headers, body });
        const text = await response.text();
        if (response.status === 409 || response.status === 503) continue;
        answers.push({ status: response.status, text });
        isAnswered();
        if (answers.length === 1) await restarted.promise;
      } catch {
        await sleep(5);
      }
    }
    const [one, again] = answers as [{ status: number; text: string }, { status: number; text: string }];
    if (one.status === 201) assert.deepEqual(again, one);
    // 100 people of one address exceed its bound, so the last ones get 429.
    else for (const { status } of [one, again]) assert.ok(status === 403 || status === 429, String(status));
    return one;
  };
  const restarted = Promise.withResolvers<void>();
  const joining = Promise.all(Array.from({ length: people }, (_, i) => join(`Person ${i}`)));
  await someAnswered;
  await first.stop('SIGKILL');
  await startService(t, folder, { PORT: port });
  restarted.resolve();

  const answers = await joining;
  const members = answers.filter(({ status }) => status === 201).map(({ text }) => JSON.parse(text));
  assert.equal(members.length, 30);
  assert.deepEqual(await db.read`select used from invites where id = ${id}`, [[30]]);
  assert.deepEqual(await db.read`select count(*) from members`, [[30]]);
  assert.equal(new Set(members.map(({ workspace }) => workspace)).size, 30);
  for (const { key, workspace } of members) {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const categories = `${first.origin}/v1/categories`;
    const body = JSON.stringify({ name: workspace });
    const own = await fetch(categories, { method: 'POST', headers, body });
    const listed = await fetch(`${categories}?limit=100`, { headers });
    assert.deepEqual([own.status, listed.status], [201, 200]);
    const names = ((await listed.json()) as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => members.some((member) => member.workspace === name)),
      [workspace],
    );
    const others = await Promise.all(Array.from({ length: 78 }, () => fetch(categories, { headers })));
    await Promise.all(others.map((response) => response.arrayBuffer()));
    assertSixtyInEachMinute([own, listed, ...others]);
  }
});

/** Exactly 60 requests are admitted, unless a new minute began meanwhile: then at most 60 in each. */
function assertSixtyInEachMinute(responses: readonly Response[]): void {
  const minutes = Map.groupBy(responses, ({ headers }) => headers.get('x-ratelimit-reset'));
  for (const all of minutes.values()) {
    const admitted = all.filter(({ status }) => status !== 429).length;
    assert.equal(admitted, Math.min(60, all.length));
  }
}
