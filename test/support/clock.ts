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
