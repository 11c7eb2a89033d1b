import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startService } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const hasCurl = spawnSync('curl', ['--version']).status === 0;
const skip = !hasCurl && !process.env.CI && 'curl is not installed';

test('every curl of the README, pasted in order, answers what the README shows', { skip }, async (t) => {
  const folder = await temporaryStorage(t);
  const service = await startService(t, join(folder, 'data'));
  const blocks = [...readme.matchAll(/```(sh|json)\n([\s\S]*?)```/g)].map(([, kind, text]) => ({
    kind,
    text: text as string,
  }));
  let settings = '';
  let compared = 0;
  blocks.forEach(({ kind, text }, i) => {
    if (kind !== 'sh') return;
    if (text.startsWith('API=')) settings = text;
    if (!text.startsWith('curl')) return;
    const script = `${settings}\n${text.replaceAll(/^curl/gm, 'curl -sS')}`.replaceAll(
      'http://localhost:8080',
      service.origin,
    );
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' });
    const shown = blocks[i + 1];
    assert.equal(shown?.kind, 'json', text);
    assert.equal(stdout, shown.text, stderr);
    compared++;
  });
  assert.equal(compared, 7);
});
