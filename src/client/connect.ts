import { operationOf } from './operation.ts';
import { defaults, type PetstoreOptions } from './options.ts';
import { Pace } from './pace.ts';
import type { Connection } from './send.ts';
import { platformClock } from './time.ts';

/** Where the API is, without a slash at the end. */
export const baseOf = ({ baseUrl }: PetstoreOptions) => new URL(baseUrl).href.replace(/\/+$/, '');

/**
 * The operations of an API at `base`, by their names. They keep one pace.
 *
 * @throws TypeError if there is no key.
 */
export function connect<Operations>(
  { baseUrl: _, clock, ...given }: PetstoreOptions,
  base: string,
  targets: Readonly<Record<keyof Operations, string>>,
): Operations {
  // What no header field can hold would be told, with the key, by errors of `fetch`.
  if (!/^[!-~]+\s*$/.test(given.apiKey ?? ''))
    throw new TypeError('The client needs an apiKey: visible ASCII characters, without a space.');
  const usual = {
    ...defaults,
    fetch: (...request: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...request),
  };
  const chosen = Object.entries(given).filter(([, value]) => value !== undefined);
  const times = { ...platformClock, ...clock };
  const options = { ...usual, ...Object.fromEntries(chosen) } as Connection['options'];
  const connection = { options, clock: times, pace: new Pace(times) };
  return Object.fromEntries(
    Object.entries<string>(targets).map(([name, target]) => [name, operationOf(connection, base, target)]),
  ) as Operations;
}
