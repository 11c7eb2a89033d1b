import { roomInMinute } from './limits.ts';

const minuteMs = 60_000;

/**
 * A clock for processes that get `env`, with `leftMs` left of the current minute. For shared limits, the clock of the
 * server counts: then it is the real one, at a moment with as much left of the minute.
 */
export async function clockWithLeft(leftMs: number): Promise<ReturnType<typeof clockAhead>> {
  if (process.env.PETSTORE_TEST_VALKEY_URL) {
    await roomInMinute(leftMs);
    return { env: {}, now: Date.now };
  }
  return clockAhead(minuteMs - leftMs - (Date.now() % minuteMs));
}

/** Variables for processes that first run this code. */
const preload = (code: string): Record<string, string> => ({
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}`,
});

/** A clock for processes of a test that is ahead of the real one. */
export const clockAhead = (aheadMs: number) => ({
  env: preload(`const real = Date.now; Date.now = () => real() + ${aheadMs};`),
  now: () => Date.now() + aheadMs,
});

/**
 * The clock of a process that gets `env`. On the signal it goes back to the moment with `leftMs` left of the previous minute,
 * and says so. It is behind the clock of commands, which the clearing of a ban requires.
 */
export function clockThatGoesBack(leftMs: number) {
  const [signal, said] = ['SIGUSR2', 'The clock went back.'] as const;
  const code = `const real = Date.now; let backMs = 0; Date.now = () => real() - backMs;
process.on('${signal}', () => { backMs = (real() % ${minuteMs}) + ${leftMs}; console.log('${said}'); });`;
  return { env: preload(code), signal, said };
}

/** A stopped clock for processes, so that no minute ends however long they take. */
export const clockAt = (nowMs: number) => ({
  env: preload(`Date.now = () => ${nowMs};`),
  now: () => nowMs,
});

/** Variables for a process whose stopwatch is slower by this factor, so that it waits longer on a busy machine. */
export const slowStopwatch = (times: number) =>
  preload(`const real = performance.now.bind(performance); performance.now = () => real() / ${times};`);
