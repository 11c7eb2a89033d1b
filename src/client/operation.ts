import { type Answer, answerFrom, givenEtag, remember } from './answers.ts';
import type { Event } from './description.ts';
import { PetstoreError } from './error.ts';
import { exactText, type Int64, idOf, isObject, writeExactly } from './exact-json.ts';
import { follow } from './follow.ts';
import { List } from './list.ts';
import {
  assertKnown,
  type CallOptions,
  type ChangeOptions,
  type CreateOptions,
  optionNames,
  type RawOptions,
  type ReadOptions,
  type StreamOptions,
} from './options.ts';
import { randomId } from './platform.ts';
import { type Connection, type RequestSpec, send } from './send.ts';

type AnyOptions = ReadOptions & CreateOptions & ChangeOptions & StreamOptions;

const largestPage = 100;

/** Returns the method of an operation. It takes the ids of its path, then its body or query, then options. */
export function operationOf(connection: Connection, base: string, name: string, target: string) {
  const [method = '', path = '', ...words] = target.split(' ');
  const kind = words.at(-1);
  const expected = expectedOf(kind);
  const eventTypes = words.find((word) => /^\w+\.\w/.test(word))?.split(',');
  const prepare = (parts: unknown[]) => {
    const rest = [...parts];
    const filled = path.replace(/{\w+(:text)?}/g, (_, isText) =>
      isText ? textIdOf(rest.shift()) : String(idOf(rest.shift() as Int64)),
    );
    const url = new URL(base + filled);
    const body = words.includes('body') ? writeExactly(rest.shift()) : undefined;
    if (words.includes('query')) addQuery(url, rest.shift());
    const options = (rest.shift() ?? {}) as AnyOptions;
    assertKnown(options, optionNames[optionsOf(method, kind)], name);
    return { spec: { method, url, body, headers: headersOf(method, body, options), ...expected }, options };
  };
  if (kind === 'list')
    return (...parts: unknown[]) => {
      const { spec, options } = prepare(parts);
      return listOf(connection, spec, options);
    };
  if (kind === 'stream')
    return (...parts: unknown[]) => {
      const { spec, options } = prepare(parts);
      return follow(connection, spec.url, options);
    };
  return async (...parts: unknown[]) => {
    const { spec, options } = prepare(parts);
    return call(connection, { base, eventTypes }, spec, options);
  };
}

const optionsOf = (method: string, kind: string | undefined) =>
  kind === 'stream' ? kind : method === 'GET' || method === 'POST' ? method : 'change';

/** What the response of an operation must be: nothing, an array, text of a media type, or an object. */
function expectedOf(kind = ''): Pick<RequestSpec, 'isExpected' | 'textType'> {
  if (kind === 'nothing') return {};
  if (kind.includes('/')) return { textType: kind };
  return { isExpected: kind === 'list' || kind === 'array' ? Array.isArray : isObject };
}

/**
 * Checks an id that is text.
 *
 * @throws TypeError if it could lead to another path, such as `..`, a slash or an empty text.
 */
function textIdOf(value: unknown): string {
  if (typeof value === 'string' && /^[\w-]+$/.test(value)) return value;
  throw new TypeError(`An id is text of letters, digits, _ and -, not ${JSON.stringify(String(value))}.`);
}

function addQuery(url: URL, query: unknown): void {
  for (const [name, values] of Object.entries(query ?? {}))
    if (values !== undefined)
      for (const value of [values].flat()) url.searchParams.append(name, exactText(value as Int64));
}

function headersOf(
  method: string,
  body: string | undefined,
  { idempotencyKey, ifMatch, ifNoneMatch }: AnyOptions,
): Record<string, string> {
  return {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(method === 'POST' && { 'idempotency-key': idempotencyKey ?? randomId() }),
    ...(ifMatch !== undefined && { 'if-match': givenEtag(ifMatch) }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': givenEtag(ifNoneMatch) }),
  };
}

/** `eventTypes`: the types of the events that the operation writes to the history, if it writes any. */
async function call(
  connection: Connection,
  { base, eventTypes }: { base: string; eventTypes: string[] | undefined },
  spec: RequestSpec,
  options: AnyOptions,
): Promise<unknown> {
  const requestId = options.requestId ?? randomId();
  try {
    const received = await send(connection, spec, { ...options, requestId });
    options.onAnswer?.(answerFrom(received));
    return received.status === 304 ? options.ifNoneMatch : remember(received.data, received);
  } catch (error) {
    // An id from the caller may belong to other requests, too.
    if (!mayHaveBeenMade(spec, error) || options.requestId !== undefined) throw error;
    const isRemoval = spec.method === 'DELETE';
    if (!eventTypes) {
      // A missing resource counts as removed, no matter who removed it.
      if (isRemoval) return undefined;
      throw error;
    }
    const { signal, timeoutMs } = options;
    const history = { connection, base, types: eventTypes, options: { signal, timeoutMs } };
    const done = await recoverLostWrite(history, requestId).catch(() => {
      signal?.throwIfAborted();
    });
    if (!done) throw error;
    return isRemoval ? undefined : done;
  }
}

/** Whether the service may have refused a change because an earlier attempt had made it. */
function mayHaveBeenMade({ method, isExpected }: RequestSpec, error: unknown): boolean {
  if (!(error instanceof PetstoreError)) return false;
  if (method === 'DELETE') return error.status === 404 && !isExpected;
  return method !== 'GET' && (error.status === 412 || error.code === 'order_complete');
}

/** A response of `request`. */
export interface RawAnswer<Data = unknown> extends Answer {
  /** The body: parsed JSON, or else text. Undefined without a body. */
  data: Data;
}

/** Sends any request below `base`. */
export async function sendRaw<Data>(
  connection: Connection,
  base: string,
  method: string,
  path: string,
  options: RawOptions = {},
): Promise<RawAnswer<Data>> {
  assertKnown(options, optionNames.request, 'request');
  const { query, body } = options;
  const url = new URL(base + path);
  if (!path.startsWith('/') || !url.href.startsWith(`${base}/`))
    throw new TypeError(`A path begins with / and stays below ${base}. It is ${JSON.stringify(path)}.`);
  addQuery(url, query);
  const text = body === undefined ? undefined : writeExactly(body);
  const verb = method.toUpperCase();
  const spec = { method: verb, url, body: text, headers: headersOf(verb, text, options), isRaw: true };
  const received = await send(connection, spec, options);
  const answer = answerFrom(received);
  options.onAnswer?.(answer);
  return { ...answer, data: received.data as Data };
}

function listOf<Item>(connection: Connection, request: RequestSpec, options: AnyOptions): List<Item> {
  const { url, ...spec } = request;
  if (!url.searchParams.has('limit')) url.searchParams.set('limit', String(largestPage));
  const { 'if-none-match': _, ...later } = spec.headers ?? {};
  return new List<Item>(url, async (at, isFirst) => {
    const headers = isFirst ? spec.headers : later;
    const page = { ...spec, url: at, ...(headers && { headers }) };
    const received = await send(connection, page, options);
    options.onAnswer?.(answerFrom(received));
    const data = received.status === 304 ? options.ifNoneMatch : received.data;
    return { ...received, data: data as Item[] };
  });
}

/** How many of the latest events are searched for a change that was just made. */
const searchedEvents = 1_000;

/** The events of some types in the history of the API at `base`. */
interface History {
  connection: Connection;
  base: string;
  types: readonly string[];
  options: CallOptions;
}

/**
 * The resource after a refused request that had been applied: an earlier attempt made the change, and its answer was lost.
 * Browsers, Deno, Bun and load balancers also repeat requests by themselves. Each event has the id of the request that caused it.
 */
async function recoverLostWrite(history: History, requestId: string): Promise<object | undefined> {
  const { connection, base, options } = history;
  const url = new URL(`${base}/store/events/stream`);
  const { headers } = await send(connection, { method: 'HEAD', url }, options);
  const last = BigInt(headers.get('last-event-id') ?? 0);
  const after = last > searchedEvents ? last - BigInt(searchedEvents) : undefined;
  const found = await lastEventOf(requestId, history, after).catch((error) => {
    // Events that old are no longer stored.
    if (!(error instanceof PetstoreError) || ![400, 410].includes(error.status ?? 0)) throw error;
    return lastEventOf(requestId, history, undefined);
  });
  return found?.data;
}

async function lastEventOf(requestId: string, history: History, after: bigint | undefined) {
  const { connection, base, types, options } = history;
  const url = new URL(`${base}/store/events`);
  addQuery(url, { after, type: types });
  let found: Event | undefined;
  for await (const event of listOf<Event>(connection, { method: 'GET', url, ...expectedOf('list') }, options))
    if (event.requestId === requestId) found = event;
  return found;
}
