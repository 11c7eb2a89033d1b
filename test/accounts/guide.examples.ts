import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { guides } from '../../src/reference/description/guides.ts';
import { assertShows, blocksOf } from '../support/pasted.ts';
import { whyNo } from '../support/programs.ts';
import { printed, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';

const skip = whyNo('curl') || whyNo('openssl');

test('the requests of the guide "Get a key" run one after another, from an invite to the deletion', {
  skip,
}, async (t) => {
  const dataDir = join(await temporaryStorage(t), 'data');
  const { origin } = await startService(t, dataDir);
  const guide = guides(`${origin.replace('127.0.0.1', 'localhost')}/v1`).find(
    ({ name }) => name === 'Get a key',
  );
  const [create, look, upgrade, renew, endOld, remove, invite, ...others] = blocksOf(guide?.description ?? '')
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code) as [string, string, string, string, string, string, string];
  assert.deepEqual(others, []);
  const words = [...(/invites create.*/.exec(invite)?.[0] ?? '').matchAll(/"[^"]*"|\S+/g)];
  const { code } = await printed([...words.map(([word]) => word.replaceAll('"', '')), '--json'], {
    PETSTORE_DATA_DIR: dataDir,
  });
  const env: Record<string, string> = { PATH: process.env.PATH as string, INVITE: code };
  const run = async (code: string) => {
    const options = { env, timeout: 60_000 };
    return (
      await promisify(execFile)('bash', ['-euc', code.replace(/^curl/, 'curl -sS --fail-with-body')], options)
    ).stdout;
  };
  const created = await run(create);
  const shown = blocksOf(guide?.description ?? '').find(({ language }) => language === 'json');
  assertShows(shown, created);
  env.PETSTORE_API_KEY = JSON.parse(created).key;
  assert.deepEqual(JSON.parse(await run(look)).upgrades, ['free', 'pro']);
  assert.equal(JSON.parse(await run(upgrade)).plan, 'pro');
  env.NEW_API_KEY = JSON.parse(await run(renew)).key;
  await run(look);
  await run(endOld);
  await assert.rejects(run(look));
  assert.equal(await run(remove), '');
  await assert.rejects(run(endOld));
});
