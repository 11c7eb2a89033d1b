// Is imported into a server by `bench/readings.ts`. It notes the longest turn of the event loop in processor time of the main thread,
// so that other work on the machine does not count. Linux counts that time in steps of up to 4 ms.

import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const ownUs = () => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};

function watch(): void {
  let longestUs = 0;
  let beganUs = ownUs();
  const turn = () => {
    const endUs = ownUs();
    longestUs = Math.max(longestUs, endUs - beganUs);
    beganUs = endUs;
    setImmediate(turn);
  };
  turn();
  process.on('SIGUSR2', () => {
    writeFileSync(process.env.LOOP_TURNS_FILE as string, String(longestUs / 1_000));
    longestUs = 0;
  });
}

if (isMainThread) watch();
