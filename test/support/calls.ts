/** What `petstoreInTurn` runs: the calls that standard input names, one after the other. Tells how each ended, as JSON. */
import { text } from 'node:stream/consumers';
import { main } from '../../src/main.ts';

const writeResults = process.stdout.write.bind(process.stdout);
// Each call listens for a reader that has seen enough.
process.stdout.setMaxListeners(0);

const results = [];
for (const args of JSON.parse(await text(process.stdin)) as string[][]) {
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    process[stream].write = (chunk: string | Uint8Array) => {
      written[stream] += chunk;
      return true;
    };
  }
  process.exitCode = 0;
  await main([process.execPath, 'petstore', ...args]);
  results.push({ args, status: process.exitCode, ...written });
}
process.exitCode = 0;
writeResults(JSON.stringify(results));
