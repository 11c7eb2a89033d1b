import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { guides } from '../../src/reference/description/guides.ts';
import { clockThatGoesBack } from '../support/clock.ts';
import { asCheckout, assertShows, type Block, below, blocksOf } from '../support/pasted.ts';
import { whyNo } from '../support/programs.ts';
import { environment, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';
import { textOf } from '../support/tree.ts';
import { until } from '../support/until.ts';

const [readme, tour] = [textOf('README.md'), textOf('docs/tour.md')];
const skip = whyNo('curl');

const guide = (name: string) =>
  guides('http://localhost:8080/v1').find((one) => one.name === name)?.description ?? '';

/** A service beside a terminal, in which blocks are pasted one after the other. */
async function startBesideTerminal(t: TestContext, serviceEnv: Record<string, string> = {}) {
  const folder = await temporaryStorage(t);
  const dataDir = asCheckout(folder);
  const service = await startService(t, dataDir, serviceEnv);
  const exported: string[] = [];
  const paste = (code: string, shell = 'bash') => {
    const here = code.replaceAll('http://localhost:8080', service.origin);
    const env = environment({ PETSTORE_DATA_DIR: dataDir });
    const script = [...exported, here].join('\n');
    const { stdout, stderr } = spawnSync(shell, ['-c', script], { cwd: folder, env, encoding: 'utf8' });
    exported.push(...(here.match(/^export .*/gm) ?? []));
    return { stdout, stderr };
  };
  return { service, paste };
}

const isPasted = ({ language, code }: Block) => language === 'sh' && !code.startsWith('npm ci');

test('the commands of the README and the tour print what they show, twice, in bash and in sh', {
  skip,
}, async (t) => {
  const { paste } = await startBesideTerminal(t);
  const ofGuide = blocksOf(guide('Getting started')).filter(isPasted);
  assert.match(ofGuide.map(({ code }) => paste(code).stdout).join(), /"id":9,"petId":1/);
  const blocks = [
    ...blocksOf(below('## Orders', tour)),
    ...blocksOf(below('## Start', readme)),
    ...blocksOf(below('## The API in one example', readme)),
  ];
  for (const shell of ['bash', 'sh']) {
    let printed = '';
    let compared = 0;
    for (const block of blocks) {
      if (isPasted(block)) {
        const { stdout, stderr } = paste(block.code, shell);
        assert.doesNotMatch(stderr, /petstore:|curl:|sh:/);
        printed = stdout;
      } else if (block.language === 'json') {
        assert.equal(oneLine(printed), oneLine(block.code));
        compared++;
      }
    }
    assert.equal(compared, 8);
  }
});

const codeOf = (markdown: string) => blocksOf(markdown).map(({ code }) => code);

const oneLine = (text: string) => text.replaceAll('\n', '');

/** The output of curl for one address after the other: the name of each pet, or the code of each refusal. */
const outcomes = (stdout: string) =>
  [...stdout.matchAll(/"name":"(\w+)"|"code":"(\w+)"/g)].map(([, name, code]) => name ?? code);

test('limits behave as the tour and the guide say: a load-test key has room, curl waits, a ban appears and is cleared', {
  skip,
}, async (t) => {
  const clock = clockThatGoesBack(2_000);
  const { service, paste } = await startBesideTerminal(t, clock.env);
  const limits = guide('Rate limits');
  const rehearsed = codeOf(below('### Rehearse it', limits));
  assert.equal(rehearsed.length, 4);
  const [create = '', ask = '', askAtOnce = '', unban = ''] = rehearsed;
  const [createAmple = ''] = codeOf(below('### A key with your own limits', limits));
  for (const code of [create, ask]) assert.ok(below('## Limits', tour).includes(code), code);
  assert.ok(below('## Load testing', readme).includes(createAmple), createAmple);

  const [, key] = /^key +(pet_\w+)$/m.exec(paste(createAmple).stdout) ?? [];
  const get = () =>
    fetch(`${service.origin}/v1/categories/1`, { headers: { authorization: `Bearer ${key}` } });
  const answers = await Promise.all(Array.from({ length: 400 }, get));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));

  assert.equal(paste(create).stderr, '');
  service.child.kill(clock.signal);
  await until(() => service.output().includes(clock.said));
  const waited = paste(ask);
  assert.deepEqual(outcomes(waited.stdout), ['Bella', 'Rex', 'Luna', 'rate_limited', 'Barney', 'Pepper']);
  assert.match(waited.stderr, /Will retry in [12] second/);

  assert.deepEqual(outcomes(paste(askAtOnce).stdout), [
    'Bella',
    ...Array(10).fill('rate_limited'),
    ...Array(9).fill('key_banned'),
  ]);

  assert.match(
    paste(unban).stdout,
    /^Key key_\w+ is not banned any more, and its earlier bans are forgotten\.\n$/,
  );
  await until(() => outcomes(paste(askAtOnce.replace('[1-20]', '1')).stdout)[0] === 'rate_limited');
});

test('the report card of the tour is real, for a client that waits and one that does not', {
  skip,
}, async (t) => {
  const { paste } = await startBesideTerminal(t);
  const blocks = blocksOf(below('## Test one fault', tour));
  for (const [i, { language, code }] of blocks.entries()) {
    if (language !== 'sh') continue;
    const { stdout, stderr } = paste(code);
    assertShows(blocks[i + 1], `${stdout}${stderr}`);
  }
  assert.equal(blocks.length, 4);
});
