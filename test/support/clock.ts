import { roomInMinute } from './limits.ts';

const minuteMs = 60_000;

/** The clock of processes that get `env`. */
export interface OwnClock {
  env: Record<string, string>;
  /** What it shows, in milliseconds since 1970. */
  now(): number;
}

/**
 * A clock for processes of a test, by which `leftMs` of the minute are left now. Where limits are shared, the clock of the
 * server counts: then it is the real one, once no less is left of the minute.
 */
export async function clockWithLeft(leftMs: number): Promise<OwnClock> {
  if (process.env.PETSTORE_TEST_VALKEY_URL) {
    await roomInMinute(leftMs);
    return { env: {}, now: Date.now };
  }
  const aheadMs = minuteMs - leftMs - (Date.now() % minuteMs);
  return clockAhead(aheadMs);
}

/** A clock for processes of a test that is ahead of the real one. */
export function clockAhead(aheadMs: number): OwnClock {
  const code = `const real = Date.now; Date.now = () => real() + ${aheadMs};`;
  return {
    env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` },
    now: () => Date.now() + aheadMs,
  };
}

/**
 * The clock of a process that gets `env`. When it gets the signal, it goes back to when `leftMs` of the minute before were
 * left, and says so. Unlike a clock that is ahead, it is behind that of commands, as a ban must be that they lift.
 */
export function clockThatGoesBack(leftMs: number) {
  const [signal, said] = ['SIGUSR2', 'The clock went back.'] as const;
  const code = `const real = Date.now; let backMs = 0; Date.now = () => real() - backMs;
process.on('${signal}', () => { backMs = (real() % ${minuteMs}) + ${leftMs}; console.log('${said}'); });`;
  return { env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` }, signal, said };
}

/** A clock of processes that stands still, so that no minute ends however long they take. */
export function clockAt(nowMs: number): OwnClock {
  const code = `Date.now = () => ${nowMs};`;
  return {
    env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` },
    now: () => nowMs,
  };
}

/** Variables for a process whose stopwatch is so many times slower, so that it waits longer for a busy machine. */
export function slowStopwatch(times: number): Record<string, string> {
  const code = `const real = performance.now.bind(performance); performance.now = () => real() / ${times};`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` };
}
