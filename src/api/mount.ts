import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/keys/store.ts';
import type { Database, Transaction, WriteContext } from '../db/database.ts';
import { ignoringFinalStatements } from '../db/group-commit.ts';
import type { Sql } from '../db/sql.ts';
import type { Fields } from '../foundation/field-names.ts';
import { addressGroupOf, isCrossOrigin } from '../http/address.ts';
import { disconnected } from '../http/connections.ts';
import { assertMayChange, etagOf, isKnown, type Preconditions, preconditionsOf } from '../http/etag.ts';
import { pauseOfCostlyMs } from '../http/fair-share.ts';
import { hasContent } from '../http/headers.ts';
import {
  claimIdempotencyKey,
  isKept,
  type KeptBounds,
  ownKey,
  readIdempotencyKey,
  rejectConcurrent,
  sealedUnder,
  storeResponse,
  unbounded,
} from '../http/idempotency.ts';
import { assertContentType, inputReader, lastEventIdOf, sentDigits } from '../http/input.ts';
import { jsonText } from '../http/json.ts';
import {
  type AnyInput,
  type Handled,
  type Installation,
  mediaTypesOf,
  type Operation,
  pathOfCreated,
} from '../http/operation.ts';
import { type Page, writeCursor } from '../http/pagination.ts';
import type { RouteHeaders } from '../http/request-context.ts';
import { isSingleRead, type OperationResponse, Rendered, type StreamStart } from '../http/responses.ts';
import { ownTraceparentOf } from '../http/trace-context.ts';
import { responseWriter, streamStarter } from '../http/write-response.ts';
import { assertNotSunset, lifecycleHeaders } from '../observe/deprecation.ts';
import type { OpenStreams } from '../store/events/open-streams.ts';
import type { ChangeNotifier } from '../store/history/record.ts';

const none: Preconditions = { ifMatch: undefined, ifNoneMatch: undefined };

/** The objects that are needed to serve operations. */
export interface ApiServices {
  db: Database;
  changes: ChangeNotifier;
  installation: Installation;
  streams: OpenStreams;
  /** Where callers find the API, without a slash at the end. */
  baseUrl: string;
  /** All operations; one may be the successor of another. */
  operations: readonly Operation[];
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Whether deprecated operations stop working at their sunset. */
  enforceSunset: boolean;
  /** POST requests with an Idempotency-Key that are in progress on this instance. */
  inFlight: Set<string>;
  /** Which Idempotency-Keys count together, and how many of a caller are kept. */
  kept: { api: string; boundsOf(caller: Caller): KeptBounds };
  /** Resolves when the key caches of all instances have expired. */
  keyChanged(keyId: string): Promise<void>;
}

/** Stands for the caller of an operation that needs no key. */
const nobody = { workspaceId: 0, keyId: '', secretHash: '', plan: 'free' } as const;

const callerOf = ({ caller }: FastifyRequest) => caller ?? nobody;

/** Handles one request, whose input is read. */
type RequestHandle = (sql: Sql | Transaction) => Promise<OperationResponse>;

/** Serves an operation: read and check the request, handle it in its transaction, respond. HEAD comes with GET. */
export function mount(app: FastifyInstance, operation: Handled, services: ApiServices): void {
  const { method, path, success } = operation;
  const lifecycle = lifecycleHeaders(operation, services.operations, services.baseUrl);
  const mediaTypes = mediaTypesOf(operation);
  const isEnding = services.enforceSunset && operation.deprecated !== undefined;

  app.route({
    method,
    url: path.replace(/{(\w+)}/g, ':$1'),
    config: { operation, lifecycle },
    ...((operation.body || isEnding) && {
      // Before the body is read, so that no client sends one for nothing.
      preParsing: (request, _reply, _payload, done) => {
        if (isEnding) assertNotSunset(operation, services.operations, services.clock());
        if (operation.body && hasContent(request)) assertContentType(request, mediaTypes);
        done();
      },
    }),
    handler: (success.kind === 'stream' ? streamHandler : responseHandler)(operation, services, lifecycle),
  });
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

function responseHandler(
  operation: Handled,
  services: ApiServices,
  lifecycle: RouteHeaders | undefined,
): Handler {
  const { method } = operation;
  const readInput = operationInputReader(operation, services);
  const write = responseWriter(lifecycle);
  const execute = method === 'GET' ? read : method === 'POST' ? create : change;
  // A write waits for the disk, and several share one commit.
  const sharesTime = method === 'GET';
  const leastPauseMs = services.kept.api !== 'v1' ? pauseOfCostlyMs : undefined;
  return async (request, reply) => {
    const { interceptor } = request;
    const { keyId } = callerOf(request);
    const turn = sharesTime ? request.server.fairShare.enter(keyId, reply.raw, leastPauseMs) : undefined;
    if (turn) await turn;
    const seen = interceptor?.view?.(request) ?? request;
    const preconditions = method === 'POST' ? none : preconditionsOf(seen.headers, method !== 'GET');
    const input = readInput(seen, preconditions, reply);
    if (interceptor?.prepare) await interceptor.prepare(input);
    if (operation.prepare) await operation.prepare(input);
    const run = interceptor?.handle?.(operation.handle) ?? operation.handle;
    let result: unknown;
    const handle: RequestHandle = async (sql) => {
      result = await run(sql, input);
      return toAnswer(operation, input, seen, result);
    };
    const success = await execute(handle, services, seen);
    if (method !== 'GET') services.changes.notify(input.workspaceId, operation.changesWebhooks);
    if (operation.committed && !('Idempotency-Replayed' in success.headers))
      await operation.committed(input, result);
    if (operation.changesKey) await services.keyChanged(input.keyId);
    const answer = interceptor?.represent?.(success) ?? success;
    const { headers } = answer;
    const { ifNoneMatch } = preconditions;
    const isUnchanged = method === 'GET' && ifNoneMatch && isKnown(ifNoneMatch, headers.ETag as string);
    const final = isUnchanged ? { status: 304, headers } : answer;
    const sent = interceptor?.answer ? await interceptor.answer(final) : final;
    write(request, reply, sent);
    request.server.fairShare.countUnread(keyId, reply.raw, sent.bytes ?? sent.body ?? '');
  };
}

/** The handler says where the stream begins. */
function streamHandler(
  operation: Handled,
  services: ApiServices,
  lifecycle: RouteHeaders | undefined,
): Handler {
  const readInput = operationInputReader(operation, services);
  const writeHead = streamStarter(lifecycle);
  return async (request, reply) => {
    const { interceptor } = request;
    const seen = interceptor?.view?.(request) ?? request;
    const input = { ...readInput(seen, none, reply), lastEventId: lastEventIdOf(seen) };
    if (interceptor?.prepare) await interceptor.prepare(input);
    const start = (await operation.handle(services.db.read, input)) as StreamStart;
    const success = { status: 200, headers: { 'Last-Event-ID': String(start.after) } };
    const head = interceptor?.represent?.(success) ?? success;
    const { headers } = interceptor?.answer ? await interceptor.answer(head) : head;
    const begin = () => writeHead(request, reply, headers);
    await services.streams.serve(request, reply, start, begin);
  };
}

const read = (handle: RequestHandle, { db }: ApiServices) => handle(db.read);

const change = (handle: RequestHandle, services: ApiServices, request: FastifyRequest) =>
  services.db.write(handle, contextOf(services, request));

const contextOf = ({ clock }: ApiServices, request: FastifyRequest): WriteContext => ({
  atMs: clock(),
  requestId: request.id,
  traceparent: ownTraceparentOf(request),
  workspaceId: request.caller?.workspaceId,
});

/** A POST may carry an Idempotency-Key, which makes it happen once. */
function create(
  handle: RequestHandle,
  services: ApiServices,
  request: FastifyRequest,
): Promise<OperationResponse> {
  const keyedRequest = keyedRequestOf(request, services);
  if (!keyedRequest) return change(handle, services, request);
  return rejectConcurrent(services.inFlight, ownKey(keyedRequest), () =>
    services.db.write(
      async (sql) => {
        const first = await claimIdempotencyKey(sql, keyedRequest);
        if (first) return first;
        const response = await handle(ignoringFinalStatements(sql));
        await storeResponse(sql, keyedRequest, response);
        return response;
      },
      contextOf(services, request),
    ),
  );
}

/** A request with an Idempotency-Key. Undefined if it has none. */
function keyedRequestOf(request: FastifyRequest, services: ApiServices) {
  const text = readIdempotencyKey(request);
  if (text === undefined) return undefined;
  const { caller } = request;
  const { workspaceId, keyId } = callerOf(request);
  const { params, body = '' } = request as { params: Record<string, string>; body?: Buffer | '' };
  const path = request.routeOptions.url?.replace(/:(\w+)/g, (_, name) => params[name] as string);
  const fingerprint = `${path} ${hash('sha256', body)}`;
  const { hasSecret, returnsKey } = request.operation as Operation;
  const cipher = hasSecret ? services.installation.key : undefined;
  const { api, boundsOf } = services.kept;
  return {
    ...{ workspaceId, keyId, text, api, bounds: caller ? boundsOf(caller) : unbounded, fingerprint, cipher },
    outlivesResets: api !== 'v1' || path?.startsWith('/v1/store/webhooks') === true,
    nowMs: services.clock(),
    ...(returnsKey && sealedUnder(text)),
  };
}

/** A reader that gives a handler its input, or throws a refusal that says what is wrong with the request. */
function operationInputReader(operation: Operation, services: ApiServices) {
  const { baseUrl, installation, clock, db } = services;
  const { id, params, query, body, success } = operation;
  const readValues = inputReader({
    params,
    query,
    body: body?.properties,
    cursorOf: success.kind === 'page' ? id : undefined,
  });
  return (request: FastifyRequest, preconditions: Preconditions, reply: FastifyReply): AnyInput => {
    const values = readValues(request);
    const { workspaceId, keyId, secretHash, plan } = callerOf(request);
    const assertMayChangeFrom = (current: unknown) => assertMayChange(preconditions, jsonText(current));
    return {
      ...values,
      workspaceId,
      keyId,
      secretHash,
      plan,
      nowMs: clock(),
      baseUrl,
      installation,
      lastEventId: undefined,
      address: () => addressGroupOf(request),
      isCrossOrigin: () => isCrossOrigin(request, baseUrl),
      isRepetition: async () => {
        const keyed = keyedRequestOf(request, services);
        return keyed !== undefined && isKept(db.read, keyed);
      },
      disconnected: () => disconnected(request, reply),
      digitsOf: (position) => sentDigits(request, position),
      assertMayChange: assertMayChangeFrom,
    };
  };
}

/** The response for the kind of success, if it is not a stream. */
function toAnswer(
  operation: Operation,
  input: AnyInput,
  request: FastifyRequest,
  result: unknown,
): OperationResponse {
  const { success } = operation;
  const { status } = success;
  if (result instanceof Rendered) return renderedAnswer(operation, input, request, result);
  switch (success.kind) {
    case 'empty':
      return { status, headers: {} };
    case 'page': {
      const { items, next, headers } = result as Page<unknown>;
      const link = next === undefined ? undefined : nextLink(operation, input.baseUrl, request, next);
      const fields: Fields = { ...(link && { Link: link }), ...headers };
      const body = jsonText(items);
      const single = isSingleRead(success, input.query) ? items[0] : undefined;
      // The ETag includes the Link header.
      const ETag = etagOf(single === undefined ? body + Object.entries(fields).join() : jsonText(single));
      return { status, headers: { ETag, ...fields }, body };
    }
    case 'resource': {
      const body = jsonText(result);
      return { status, headers: { ETag: tagOf(success, result, body) }, body };
    }
    case 'text': {
      const body = result as string;
      return { status, headers: { ETag: etagOf(body) }, body, type: success.mediaType as string };
    }
    case 'untagged':
      return { status, headers: {}, body: jsonText(result) };
    default: {
      const body = jsonText(result);
      const location = input.baseUrl + pathOfCreated(operation, result as { id: number | string });
      return { status, headers: { ETag: tagOf(success, result, body), Location: location }, body };
    }
  }
}

/** The response with a resource or a page that was rendered beforehand. */
function renderedAnswer(
  operation: Operation,
  input: AnyInput,
  request: FastifyRequest,
  { bytes, etag, next }: Rendered,
): OperationResponse {
  const link = next === undefined ? undefined : nextLink(operation, input.baseUrl, request, next);
  const headers: Fields = link ? { ETag: etagOf(etag + link), Link: link } : { ETag: etag };
  return { status: operation.success.status, headers, bytes };
}

/** The entity tag of the GET response, which may have fewer properties than this response. */
const tagOf = ({ representationOf }: Operation['success'], result: unknown, body: string) =>
  etagOf(representationOf ? jsonText(representationOf(result)) : body);

/** The link to the next page (RFC 8288): the same request with a cursor. */
function nextLink(operation: Operation, baseUrl: string, request: FastifyRequest, after: number): string {
  const query = new URLSearchParams((request.raw.url as string).split('?')[1]);
  query.set('cursor', writeCursor(operation.id, after));
  const params = request.params as Record<string, string>;
  const path = operation.path.replace(/{(\w+)}/g, (_, name) => params[name] as string);
  return `<${baseUrl}${path}?${query}>; rel="next"`;
}
