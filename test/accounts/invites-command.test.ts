import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { command, printed, startService } from '../support/service.ts';
import { openTestStorage, temporaryStorage } from '../support/storage.ts';

/** A folder, and the commands on it. */
async function setUp(t: Parameters<typeof temporaryStorage>[0]) {
  const folder = await temporaryStorage(t);
  const env = { PETSTORE_DATA_DIR: folder };
  return {
    folder,
    run: (...args: string[]) => command(['invites', ...args], env),
    json: (...args: string[]) => printed(['invites', ...args], env),
  };
}

test('create prints the code and the link once, and the storage has only its hash', async (t) => {
  const { folder, json } = await setUp(t);
  const invite = await json(
    'create',
    '--upgrades',
    'pro',
    '--uses',
    '3',
    '--expires',
    '30m',
    '--label',
    'Class 7b',
  );
  const { id, code, plan, upgrades, uses, label, joinUrl, expiresAt } = invite;
  assert.deepEqual(Object.keys(invite), [
    'id',
    'code',
    'plan',
    'upgrades',
    'uses',
    'expiresAt',
    'label',
    'joinUrl',
  ]);
  assert.match(code, /^inv_[0-9A-Za-z]{16}$/);
  assert.deepEqual(
    { plan, upgrades, uses, label },
    { plan: 'free', upgrades: ['free', 'pro'], uses: 3, label: 'Class 7b' },
  );
  assert.equal(joinUrl, `http://localhost:8080/join#code=${code}`);
  assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 30 * 60_000) < 60_000);
  const [listed] = await json('list');
  assert.deepEqual([listed.id, listed.used, listed.left], [id, 0, 3]);
  const db = await openTestStorage(folder);
  t.after(() => db.close());
  const rows = JSON.stringify(await db.read`select * from invites`);
  assert.ok(!rows.includes(code) && !JSON.stringify(listed).includes(code));
});

test('without --upgrades members change to no other plan', async (t) => {
  const { json } = await setUp(t);
  assert.deepEqual((await json('create')).upgrades, []);
  assert.deepEqual((await json('create', '--plan', 'pro', '--upgrades', 'free, pro')).upgrades, [
    'free',
    'pro',
  ]);
});

test('people join while the service runs; show names them, add lets more in, end lets nobody in, and --delete deletes them', async (t) => {
  const { folder, run, json } = await setUp(t);
  const { origin, output } = await startService(t, folder);
  const { id, code, joinUrl } = await json('create', '--uses', '1');
  assert.equal(joinUrl, `${origin}/join#code=${code}`);
  const join = async (name: string) => {
    const body = JSON.stringify({ invite: code, name });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${origin}/accounts`, { method: 'POST', headers, body });
    return {
      status: response.status,
      body: (await response.json()) as { key: string; keyId: string; code: string },
    };
  };
  const ask = async (key: string) =>
    (await fetch(`${origin}/v1/pets?limit=1`, { headers: { 'x-api-key': key } })).status;

  const help = (await run('create', '--help')).stdout;
  assert.match(help, /\(default: 8h\)/);
  const ada = await join('Ada');
  assert.equal(ada.status, 201);
  assert.equal((await join('Bob')).body.code, 'invite_used_up');
  assert.equal((await run('add', id, '1')).stdout, `Invite ${id} has 2 uses in all.\n`);
  assert.equal((await join('Bob')).status, 201);
  const shown = await json('show', id);
  assert.deepEqual([shown.used, shown.left, shown.members.length], [2, 0, 2]);
  assert.deepEqual(
    [shown.members[0].name, shown.members[0].keyId, shown.members[0].plan],
    ['Ada', ada.body.keyId, 'free'],
  );
  assert.equal('revokedAt' in shown.members[0], false);
  assert.equal(shown.members[0].minuteRemaining, 60);

  assert.equal((await run('end', id)).stdout, `Invite ${id} has ended.\n`);
  assert.match((await run('add', id, '1')).stderr, /has ended/);
  assert.equal((await join('Eve')).body.code, 'invite_invalid');
  assert.equal(await ask(ada.body.key), 200);
  assert.equal((await run('end', id, '--delete')).stdout, `Invite ${id} has ended. 2 workspaces deleted.\n`);
  assert.deepEqual((await json('show', id)).members, []);
  const db = await openTestStorage(folder);
  t.after(() => db.close());
  assert.deepEqual(await db.read`select name from workspaces`, [['demo']]);
  assert.ok(!output().includes(code));
});

suite('a wrong call says what is allowed', () => {
  const cases: [args: string[], message: RegExp][] = [
    [['create', '--plan', 'enterprise'], /Allowed choices are free, pro, business/],
    [['create', '--upgrades', 'enterprise'], /--upgrades must be none, or a list of free, pro, business/],
    [['create', '--uses', '0'], /integer above 0/],
    [['create', '--uses', '10001'], /at most 10000/],
    [['create', '--expires', 'soon'], /such as 30m, 8h or 7d, at most 365d/],
    [['create', '--expires', '366d'], /at most 365d/],
    [['create', '--label', ''], /1 to 100 characters/],
    [['show', 'invite_x'], /There is no invite with the id invite_x/],
    [['add', 'invite_x', '1'], /There is no invite/],
    [['end', 'invite_x', '--delete'], /There is no invite/],
  ];
  for (const [args, message] of cases)
    test(args.join(' '), async (t) => {
      const { status, stderr } = await (await setUp(t)).run(...args);
      assert.notEqual(status, 0);
      assert.match(stderr, message);
      assert.equal(stderr.trim().split('\n').length, 1);
    });
});
