/** The process of `command` in `service.ts`. It runs the received calls one after the other, and sends the result of each. */
import { main } from '../../src/main.ts';

interface Call {
  args: string[];
  env: NodeJS.ProcessEnv;
}

// Each call listens for a closed pipe.
process.stdout.setMaxListeners(0);

async function run({ args, env }: Call) {
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    process[stream].write = (chunk: string | Uint8Array) => {
      written[stream] += chunk;
      return true;
    };
  }
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = 0;
  await main([process.execPath, 'petstore', ...args]);
  return { args, status: process.exitCode, ...written };
}

process.on('message', async (call: Call) => process.send?.(await run(call)));
