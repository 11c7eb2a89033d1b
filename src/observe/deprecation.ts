import type { FastifyBaseLogger } from 'fastify';
import { ApiError } from '../foundation/errors.ts';
import { dayMs } from '../foundation/time.ts';
import type { Operation } from '../http/operation.ts';
import type { RouteHeaders } from '../http/request-context.ts';
import { referenceUrl } from '../http/target.ts';
import type { RequestOutcome } from './request-outcome.ts';

/** How many keys are logged in a day for each operation, at most. */
const maxLoggedKeys = 100_000;

/** Path parameters that may be repeated in a header: ids only, no long text and no special characters. */
const plainId = /^[\w-]{1,100}$/;

/** What to use instead of a deprecated operation. Throws if its successor is not an operation. */
export function successorOf({ id, deprecated }: Operation, operations: readonly Operation[]): Operation {
  const successor = operations.find((operation) => operation.id === deprecated?.successor);
  if (!successor)
    throw new Error(`${id} has ${deprecated?.successor} as its successor, which is not an operation.`);
  return successor;
}

/**
 * Deprecation (RFC 9745), Sunset (RFC 8594) and links to the successor and the policy, for an API at `baseUrl`. The link
 * to the successor has the path parameters of the request. If it needs others, it leads to its description.
 */
export function lifecycleHeaders(
  operation: Operation,
  operations: readonly Operation[],
  baseUrl: string,
): RouteHeaders | undefined {
  const { deprecated } = operation;
  if (!deprecated) return undefined;
  const successor = successorOf(operation, operations);
  const policy = `${referenceUrl(baseUrl)}#tag/versioning`;
  const headersTo = (target: string) => ({
    Deprecation: `@${Date.parse(deprecated.since) / 1000}`,
    Sunset: new Date(deprecated.sunset).toUTCString(),
    Link: [
      `<${baseUrl}${target}>; rel="successor-version"`,
      `<${policy}>; rel="deprecation"; type="text/html"`,
      `<${policy}>; rel="sunset"; type="text/html"`,
    ].join(', '),
  });
  const names = [...successor.path.matchAll(/{(\w+)}/g)].map(([, name]) => name as string);
  const constant = headersTo(names.length === 0 ? successor.path : pointerTo(successor));
  if (names.length === 0) return () => constant;
  return (params) =>
    names.every((name) => plainId.test(params[name] ?? ''))
      ? headersTo(successor.path.replaceAll(/{(\w+)}/g, (_, name) => params[name] as string))
      : constant;
}

/** The address of an operation within the description (RFC 6901, section 6). */
const pointerTo = ({ path, method }: Operation) =>
  `/openapi.json#/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method.toLowerCase()}`;

/** Throws `gone` once the sunset date of an operation has come. */
export function assertNotSunset(operation: Operation, operations: readonly Operation[], nowMs: number): void {
  const { deprecated } = operation;
  if (!deprecated || nowMs < Date.parse(deprecated.sunset)) return;
  const { method, path } = successorOf(operation, operations);
  throw new ApiError(
    'gone',
    `This operation ended at its sunset (${deprecated.sunset}). Use ${method} ${path} instead.`,
  );
}

/** Calls of a deprecated operation since the start, and the keys that called it today (UTC). */
interface DeprecatedUse {
  calls: number;
  callers: ReadonlySet<string>;
}

/** Reports who still calls deprecated operations: one log line a day for each key, and counts. */
export class DeprecatedCalls {
  readonly #log: Pick<FastifyBaseLogger, 'info'>;
  readonly #clock: () => number;
  readonly #uses = new Map<string, DeprecatedUse & { callers: Set<string> }>();
  #day = 0;

  constructor(log: Pick<FastifyBaseLogger, 'info'>, clock: () => number) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Counts a response, if it is to an admitted call of a deprecated operation. */
  note({ operation: called, caller }: RequestOutcome): void {
    if (!called?.deprecated || !caller) return;
    const { id: operation } = called;
    const { keyId, workspaceId } = caller;
    this.#turnDay();
    const use = this.#uses.get(operation) ?? { calls: 0, callers: new Set() };
    this.#uses.set(operation, use);
    use.calls++;
    if (use.callers.has(keyId) || use.callers.size >= maxLoggedKeys) return;
    use.callers.add(keyId);
    this.#log.info({ operation, keyId, workspaceId }, 'a deprecated operation is still called');
  }

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
