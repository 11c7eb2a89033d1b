import { operationOf, type RawAnswer, sendRaw } from './operation.ts';
import { assertKnown, defaults, optionNames, type PetstoreOptions, type RawOptions } from './options.ts';
import { platformClock } from './platform.ts';
import { RateLimiter } from './rate-limiter.ts';
import type { Connection } from './send.ts';

/**
 * Where the API is, without a slash at the end.
 *
 * @throws TypeError if `baseUrl` is no such address, or an option is unknown.
 */
export function baseOf(options: PetstoreOptions): string {
  const { baseUrl } = options;
  assertKnown(options, optionNames.client, 'The client');
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isAddress = url && /^https?:$/.test(url.protocol) && !/[?#]/.test(url.href);
  if (isAddress && !url.username && !url.password) return url.href.replace(/\/+$/, '');
  // A URL with a password is not repeated in the message.
  const given = isAddress ? 'not one with a name or password' : `not ${JSON.stringify(baseUrl)}`;
  throw new TypeError(
    `The client needs a baseUrl, the address of the API such as http://localhost:8080/v1, ${given}.`,
  );
}

/**
 * What stands before the `/v1` of `baseUrl`. The lab and the accounts are below it.
 *
 * @throws TypeError if `baseUrl` does not end in `/v1`, or an option is unknown.
 */
export function rootOf(options: PetstoreOptions): string {
  const base = baseOf(options);
  if (base.endsWith('/v1')) return base.slice(0, -'/v1'.length);
  throw new TypeError('baseUrl must be the address of the API, which ends in /v1.');
}

/** Sends any request below `baseUrl`, with the attempts and waits of all calls. */
export interface Requests {
  /**
   * Sends a request to a path, such as `/pets`. Use it for requests that have no method here. `data` of the result is the response body: parsed
   * JSON, or else text. A POST has an `Idempotency-Key`. If the response to a PUT or PATCH with `ifMatch` is lost, the history is not searched for the change. Check it yourself.
   */
  request<Data = unknown>(method: string, path: string, options?: RawOptions): Promise<RawAnswer<Data>>;
}

/**
 * The operations of the API at `base`, by their names, and `request`. They share one rate limiter.
 *
 * @throws TypeError if there is no key, unless none is needed, or no header can hold it.
 */
export function connectTo<Operations>(
  { baseUrl: _, clock, ...given }: PetstoreOptions,
  base: string,
  targets: Readonly<Record<keyof Operations, string>>,
  needsKey = true,
): Operations & Requests {
  // `fetch` would show a key that no header can hold in the message of its error.
  if ((needsKey || given.apiKey) && !/^[!-~]+\s*$/.test(given.apiKey ?? ''))
    throw new TypeError('The client needs an apiKey: visible ASCII characters, without a space.');
  const usual = {
    ...defaults,
    // Looked up at each call: a program may replace it.
    fetch: (...request: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...request),
  };
  const chosen = Object.entries(given).filter(([, value]) => value !== undefined);
  const times = { ...platformClock, ...clock };
  const options = { ...usual, ...Object.fromEntries(chosen) } as Connection['options'];
  const rateLimiter = new RateLimiter(times, options.apiKey);
  const connection = { options, clock: times, rateLimiter, isKeyRefused: false };
  const operations = Object.entries<string>(targets).map(([name, target]) => [
    name,
    operationOf(connection, base, name, target),
  ]);
  const request = (...parts: Parameters<Requests['request']>) => sendRaw(connection, base, ...parts);
  return { ...Object.fromEntries(operations), request };
}
