/** A program that is hard to run. Its first argument says how, its second is a file for process ids. */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const [rude, pids = ''] = process.argv.slice(2);
const { PETSTORE_BASE_URL, PETSTORE_API_KEY } = process.env;
const stay = 'setInterval(() => {}, 1000)';

const keep = (pid: number | undefined) => appendFileSync(pids, `${pid}\n`);

await fetch(`${PETSTORE_BASE_URL}/pets`, { headers: { authorization: `Bearer ${PETSTORE_API_KEY}` } });
switch (rude) {
  case 'reads':
    console.log(`Read "${await text(process.stdin)}".`);
    break;
  case 'writes':
    for (let line = 0; line < 50_000; line++)
      console.log(`\u001b[31mline ${line}\u001b[0m ${'x'.repeat(40)}`);
    console.error(`the end ${PETSTORE_API_KEY}`);
    break;
  case 'stays':
    process.on('SIGTERM', () => {});
    keep(process.pid);
    keep(
      spawn(process.execPath, ['-e', `process.on('SIGTERM', () => {}); ${stay}`], { stdio: 'inherit' }).pid,
    );
    await sleep(1_000_000);
    break;
  case 'leaves a child': {
    const child = spawn(process.execPath, ['-e', stay], { stdio: 'inherit' });
    keep(child.pid);
    child.unref();
    break;
  }
  case 'leaves a daemon': {
    // It has left the group of the program, and keeps its output open for a while.
    const daemon = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 8000)'], {
      detached: true,
      stdio: 'inherit',
    });
    daemon.unref();
    break;
  }
  case 'kills itself':
    process.kill(process.pid, 'SIGKILL');
}
