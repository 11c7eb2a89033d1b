import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createInvite } from '../../src/accounts/invites.ts';
import { freePort } from '../support/port.ts';
import { startService } from '../support/service.ts';
import { openTestStorage, temporaryStorage } from '../support/storage.ts';

const people = 40;

test('a kill -9 among sign-ups loses no confirmed one and counts none twice: of 40 people who repeat, exactly 30 get in', async (t) => {
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
    assert.deepEqual(answers[1], answers[0]);
    return answers[0] as { status: number; text: string };
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
  for (const { key } of members) {
    const response = await fetch(`${first.origin}/v1/pets?limit=1`, { headers: { 'x-api-key': key } });
    assert.equal(response.status, 200);
  }
});
