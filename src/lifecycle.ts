import type { FastifyBaseLogger } from 'fastify';
import type { Caller } from './access/keys.ts';
import { dayMs } from './access/limits.ts';
import { ApiError } from './errors.ts';
import type { Metrics } from './metrics.ts';
import type { Operation } from './operation.ts';
import { referenceUrl } from './reference/serve.ts';

/** Callers whose use of deprecated operations is remembered for a day. Beyond that some may be told of twice. */
const maxTold = 100_000;

/** Deprecation (RFC 9745), Sunset (RFC 8594) and the way on, for callers who find the API at `baseUrl`. */
export function lifecycleHeaders({ deprecated }: Operation, baseUrl: string) {
  if (!deprecated) return undefined;
  const policy = `${referenceUrl(baseUrl)}#tag/versioning`;
  return {
    deprecation: `@${Date.parse(deprecated.since) / 1000}`,
    sunset: new Date(deprecated.sunset).toUTCString(),
    link: [
      `<${baseUrl}${deprecated.successor}>; rel="successor-version"`,
      `<${policy}>; rel="deprecation"; type="text/html"`,
      `<${policy}>; rel="sunset"; type="text/html"`,
    ].join(', '),
  };
}

/** Throws `gone` once the sunset date of an operation has come. */
export function assertNotSunset({ deprecated }: Operation, nowMs: number): void {
  if (!deprecated || nowMs < Date.parse(deprecated.sunset)) return;
  throw new ApiError(
    'gone',
    `This operation is no longer served since ${deprecated.sunset}. Use ${deprecated.successor} instead.`,
  );
}

/** Tells the operator who still calls deprecated operations: one log line a day for each key, and numbers. */
export class DeprecatedCalls {
  readonly #metrics: Metrics;
  readonly #log: Pick<FastifyBaseLogger, 'info'>;
  readonly #told = new Set<string>();
  #day = 0;

  constructor(metrics: Metrics, log: Pick<FastifyBaseLogger, 'info'>) {
    this.#metrics = metrics;
    this.#log = log;
  }

  /** Notes a call of an operation by the holder of a key. */
  note({ id: operation }: Operation, { keyId, workspaceId }: Caller, nowMs: number): void {
    const day = Math.floor(nowMs / dayMs);
    if (day !== this.#day || this.#told.size >= maxTold) {
      this.#day = day;
      this.#told.clear();
      this.#metrics.forgetDeprecatedCallers();
    }
    const call = `${operation} ${keyId}`;
    const isFirst = !this.#told.has(call);
    this.#metrics.countDeprecatedCall(operation, isFirst);
    if (!isFirst) return;
    this.#told.add(call);
    this.#log.info({ operation, keyId, workspaceId }, 'a deprecated operation is still called');
  }
}
