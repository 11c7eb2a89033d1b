import type { FastifyBaseLogger } from 'fastify';
import type { Answered } from './answered.ts';
import { ApiError } from './errors.ts';
import { dayMs } from './limits/decision.ts';
import type { Operation } from './operation.ts';
import { referenceUrl } from './reference-url.ts';

/** Keys that are told of in a day for each operation, at most. */
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
    `This operation is no longer served since ${deprecated.sunset}. Use GET ${deprecated.successor} instead.`,
  );
}

/** Calls of a deprecated operation since the start, and the keys that called it today (UTC). */
export interface DeprecatedUse {
  calls: number;
  callers: ReadonlySet<string>;
}

/** Tells the operator who still calls deprecated operations: one log line a day for each key, and numbers. */
export class DeprecatedCalls {
  readonly #log: Pick<FastifyBaseLogger, 'info'>;
  readonly #clock: () => number;
  readonly #uses = new Map<string, DeprecatedUse & { callers: Set<string> }>();
  #day = 0;

  constructor(log: Pick<FastifyBaseLogger, 'info'>, clock: () => number) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Notes an answer, if it is one to an admitted call of a deprecated operation. */
  note({ operation: called, caller }: Answered): void {
    if (!called?.deprecated || !caller) return;
    const { id: operation } = called;
    const { keyId, workspaceId } = caller;
    this.#turnDay();
    const use = this.#uses.get(operation) ?? { calls: 0, callers: new Set() };
    this.#uses.set(operation, use);
    use.calls++;
    if (use.callers.has(keyId) || use.callers.size >= maxTold) return;
    use.callers.add(keyId);
    this.#log.info({ operation, keyId, workspaceId }, 'a deprecated operation is still called');
  }

  /** The use of each operation by its id. */
  get uses(): ReadonlyMap<string, DeprecatedUse> {
    this.#turnDay();
    return this.#uses;
  }

  #turnDay(): void {
    const day = Math.floor(this.#clock() / dayMs);
    if (day === this.#day) return;
    this.#day = day;
    for (const { callers } of this.#uses.values()) callers.clear();
  }
}
