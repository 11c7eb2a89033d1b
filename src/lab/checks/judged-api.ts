import { isId } from '../../foundation/schema.ts';
import type { Operation } from '../../http/operation.ts';
import { mentions } from '../faults/shared/rewrite-json.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { TargetApi } from '../target-api.ts';
import { freeAtMs, isSuccess } from './request-facts.ts';

/** Conventions that checks may need, and the operations that show that an API has them. */
const conventions = {
  'Idempotency-Key': ({ errors }) => errors.includes('idempotency_key_reused'),
  'ETag and If-Match': ({ errors }) => errors.includes('precondition_failed'),
  'X-RateLimit-Remaining and X-RateLimit-Reset': ({ errors }) => errors.includes('rate_limited'),
  'bans with key_banned': ({ errors }) => errors.includes('key_banned'),
  'pages with cursor': ({ success, query }) => success.kind === 'page' && 'cursor' in query,
  'large ids': ({ params }) => Object.values(params).some((schema) => mentions(schema, isId)),
} satisfies Record<string, (operation: Operation) => boolean>;

export type Convention = keyof typeof conventions;

/** What an API declares about recorded requests. */
export class JudgedApi {
  readonly operations: readonly Operation[];
  readonly #byId: ReadonlyMap<string | undefined, Operation>;

  constructor({ operations }: TargetApi) {
    this.operations = operations;
    this.#byId = new Map(operations.map((operation) => [operation.id, operation]));
  }

  has = (convention: Convention): boolean => this.operations.some(conventions[convention]);

  operationOf = ({ operation }: Recorded): Operation | undefined => this.#byId.get(operation);

  #isKind = (request: Recorded, kind: Operation['success']['kind']) =>
    this.operationOf(request)?.success.kind === kind;

  /** Whether the response is a stream, which lasts until the client disconnects. */
  isStream = (request: Recorded): boolean =>
    this.#isKind(request, 'stream') && (request.status === undefined || isSuccess(request));

  isPage = (request: Recorded): boolean =>
    this.#isKind(request, 'page') && request.method === 'GET' && isSuccess(request);

  /** Whether two requests were in flight at once. Streams do not count. */
  hasOverlaps(requests: readonly Recorded[]): boolean {
    let busyUntilMs = Number.NEGATIVE_INFINITY;
    return requests.some((request) => {
      if (this.isStream(request)) return false;
      const overlaps = request.atMs < busyUntilMs;
      busyUntilMs = Math.max(busyUntilMs, freeAtMs(request));
      return overlaps;
    });
  }
}
