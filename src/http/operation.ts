import type { Static, TObject, TProperties } from 'typebox';
import type { Transaction } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import type { ErrorCode } from '../foundation/errors.ts';
import type { Plan } from '../foundation/settings/plans.ts';
import type { InstallationKey } from '../foundation/settings/secret-key.ts';
import { digits } from '../foundation/words.ts';
import { type PageRequest, pageQueryOf } from './pagination.ts';
import type { Rendered, Success } from './responses.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Tag = 'Pets' | 'Store' | 'Rehearsals' | 'Recordings' | 'Account' | 'Accounts';
/** Whose operations have limits of their own, which ban nobody. */
const unbanned: readonly Tag[] = ['Rehearsals', 'Recordings', 'Account', 'Accounts'];

/** An operation: everything that the router, the reader of requests and the description need. */
export interface Operation extends Shape {
  params: TProperties;
  query: TProperties;
  body?: TObject;
  success: Success<unknown>;
  errors: readonly ErrorCode[];
}

export type AnyInput = Input<TProperties, TProperties, TProperties>;

/** An operation with its handler. `Services` is the type of the handler's further parameter, if it has one. */
export interface Handled<Services extends unknown[] = []> extends Operation {
  /** Awaited before `handle` and before the transaction. */
  prepare?(input: AnyInput, ...services: Services): Promise<void>;
  handle(sql: Sql | Transaction, input: AnyInput, ...services: Services): Promise<unknown>;
  committed?(input: AnyInput, result: unknown, ...services: Services): void | Promise<void>;
}

/** Binds the services to the handlers, so that they need only the request. */
export const withServices = <Services extends unknown[]>(
  operations: readonly Handled<Services>[],
  ...services: Services
): Handled[] =>
  operations.map(({ prepare, committed, ...operation }) => ({
    ...operation,
    ...(prepare && { prepare: (input) => prepare(input, ...services) }),
    ...(committed && { committed: (input, result) => committed(input, result, ...services) }),
    handle: (sql, input) => operation.handle(sql, input, ...services),
  }));

interface Shape {
  method: Method;
  /** Below the base URL, with `{name}` for each path parameter. */
  path: string;
  /** operationId of the description. */
  id: string;
  tag: Tag;
  summary: string;
  description: string;
  stability?: 'beta' | 'experimental';
  deprecated?: Deprecation;
  /** Hides the panel of the reference that sends a request. */
  hideTryItPanel?: boolean;
  /** Whether it makes the service send events to the `url` of its body. */
  sendsEvents?: boolean;
  /** Whether it changes a webhook, or what is to be sent to one. This instance applies the change before it responds. */
  changesWebhooks?: boolean;
  /** Whether its response contains a secret, which must not be stored in plain text. */
  hasSecret?: boolean;
  /** Whether it needs no key. Its responses have no rate limit headers. */
  isPublic?: boolean;
  /** Whether its response contains an API key, so that it is stored for an Idempotency-Key only sealed with that value. */
  returnsKey?: boolean;
  /** Changes what is stored of the key. The response waits until no instance caches the key as it was. */
  changesKey?: boolean;
  /** Path parameters of its examples. Set where the examples of the schemas would fail, or would delete what other examples use. */
  sampleParams?: Record<string, number | string>;
}

/** A deprecation, for the description and the headers. Dates mean midnight in UTC, as YYYY-MM-DD. */
export interface Deprecation {
  since: string;
  sunset: string;
  /** The id of the operation to use instead. */
  successor: string;
}

/** An operation as its folder declares it, with types that follow from the schemas. */
interface Definition<
  M extends Method,
  Params extends TProperties,
  Query extends TProperties,
  Body extends TProperties,
  Result,
  Services extends unknown[],
> extends Shape {
  method: M;
  params?: Params;
  query?: Query;
  body?: TObject<Body>;
  success: Success<Result>;
  /** Errors in addition to those that follow from the operation's shape. */
  errors?: readonly ErrorCode[];
  /** Is waited for before the request is handled, and before its transaction. */
  prepare?(input: Input<Params, Query, Body>, ...services: Services): Promise<void>;
  /** For GET `sql` reads committed rows. Otherwise it is a transaction, committed before the response and rolled back when this throws. */
  handle(
    sql: M extends 'GET' ? Sql : Transaction,
    input: Input<Params, Query, Body>,
    ...services: Services
  ): Promise<Result | Rendered>;
  /** Is called after the commit, before the response, unless the response is a repeated one. */
  committed?(input: Input<Params, Query, Body>, result: Result, ...services: Services): void | Promise<void>;
}

/** What a handler gets of a request: valid values only. */
export interface Input<Params extends TProperties, Query extends TProperties, Body extends TProperties> {
  workspaceId: number;
  /** The id of the API key. */
  keyId: string;
  /** The stored form of the secret that was sent, since a key may have two. */
  secretHash: string;
  /** The plan of the API key. */
  plan: Plan;
  /** When the request is handled, in milliseconds since 1970. */
  nowMs: number;
  installation: Installation;
  /** Where callers find the API, without a slash at the end. */
  baseUrl: string;
  params: Static<TObject<Params>>;
  query: Static<TObject<Query>> & { limit?: number };
  body: Static<TObject<Body>>;
  /** The requested part of a list. */
  page: PageRequest;
  /** The event that `Last-Event-ID` names, if the operation returns a stream. */
  lastEventId: number | undefined;
  /** The group of addresses that the request comes from. */
  address(): string;
  /** Whether a web page of another origin sends the request. */
  isCrossOrigin(): boolean;
  /** Whether an earlier request with its Idempotency-Key has a response, which the client then gets. */
  isRepetition(): Promise<boolean>;
  /** For long handlers: a signal that aborts when the client has disconnected or has its response. */
  disconnected(): AbortSignal;
  /** The digits of a position as sent. A number beyond 2^53 has lost its last digits. */
  digitsOf(position: number): string;
  /** Throws `precondition_failed` if If-Match or If-None-Match does not allow a change to `current`. */
  assertMayChange(current: unknown): void;
}

/** The installation, as handlers see it. */
export interface Installation {
  key: InstallationKey;
  /** Why a URL is not allowed as a webhook, as the end of a message ("must be …"). Undefined if it is allowed. */
  targetProblem(url: string): string | undefined;
}

export function operation<
  const M extends Method,
  Params extends TProperties,
  Query extends TProperties,
  Body extends TProperties,
  Result,
  Services extends unknown[] = [],
>(definition: Definition<M, Params, Query, Body, Result, Services>): Handled<Services> {
  const { params = {}, query = {}, ...rest } = definition;
  const pageParameters = rest.success.kind === 'page' ? pageQueryOf(rest.id) : {};
  const operation = { ...rest, params, query: { ...query, ...pageParameters } };
  return { ...operation, errors: errorsOf(operation) } as unknown as Handled<Services>;
}

/** Media types that an operation's body may have. A patch is a JSON Merge Patch (RFC 7396) under either name. */
export const mediaTypesOf = ({ method }: Pick<Shape, 'method'>) =>
  method === 'PATCH' ? ['application/merge-patch+json', 'application/json'] : ['application/json'];

/** Every error that an operation can return: those that follow from its shape, and its own. */
function errorsOf(operation: Omit<Operation, 'errors'> & Partial<Pick<Operation, 'errors'>>) {
  const { method, tag, params, body, deprecated, isPublic, returnsKey, errors = [] } = operation;
  const codes = new Set<ErrorCode>([
    'invalid_request',
    ...(isPublic ? [] : (['unauthorized'] as const)),
    ...(unbanned.includes(tag) ? [] : (['key_banned'] as const)),
    'rate_limited',
    ...errors,
    'http_version_not_supported',
  ]);
  if (Object.keys(params).length > 0) codes.add('not_found');
  if (body) codes.add('invalid_json');
  if (method !== 'GET') codes.add('payload_too_large').add('unsupported_media_type');
  if (method === 'POST' && !returnsKey) codes.add('conflict');
  if (method === 'POST') codes.add('idempotency_key_in_use').add('idempotency_key_reused');
  const changesOne = method === 'PUT' || method === 'PATCH' || method === 'DELETE';
  // Accounts have no ETag.
  if (changesOne && tag !== 'Accounts') codes.add('precondition_failed');
  if (deprecated) codes.add('gone');
  return [...codes, 'request_timeout', 'headers_too_large', 'internal_error', 'unavailable'];
}

/** The path of a resource that an operation created, below the base URL. */
export const pathOfCreated = ({ path }: Operation, { id }: { id: number | string }): string =>
  `${path}/${typeof id === 'number' ? digits(id) : id}`;
