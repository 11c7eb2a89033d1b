import { etagOf, remember } from './answers.ts';
import type { Event } from './description.ts';
import { PetstoreError } from './error.ts';
import { exactText, type Int64, idOf, isObject, writeExactly } from './exact-json.ts';
import { follow } from './follow.ts';
import { List } from './list.ts';
import type { ChangeOptions, CreateOptions, ReadOptions, StreamOptions } from './options.ts';
import { type History, ownChange } from './own-change.ts';
import { randomId } from './random-id.ts';
import { type Connection, type Sent, send } from './send.ts';

type AnyOptions = ReadOptions & CreateOptions & ChangeOptions & StreamOptions;

const largestPage = 100;

/** What an operation does when it is called, with the parts of its path, its body or query, and options. */
export function operationOf(connection: Connection, base: string, target: string) {
  const [method = '', path = '', ...words] = target.split(' ');
  const kind = words.at(-1);
  const gives = givenAs(kind);
  const prepare = (parts: unknown[]) => {
    const rest = [...parts];
    const filled = path.replace(/{\w+(:text)?}/g, (_, isText) =>
      isText ? textIdOf(rest.shift()) : String(idOf(rest.shift() as Int64)),
    );
    const url = new URL(base + filled);
    const body = words.includes('body') ? writeExactly(rest.shift()) : undefined;
    if (words.includes('query')) addQuery(url, rest.shift());
    const options = (rest.shift() ?? {}) as AnyOptions;
    return { sent: { method, url, body, headers: headersOf(method, body, options), ...gives }, options };
  };
  if (kind === 'list')
    return (...parts: unknown[]) => {
      const { sent, options } = prepare(parts);
      return listOf(connection, sent, options);
    };
  if (kind === 'stream')
    return (...parts: unknown[]) => {
      const { sent, options } = prepare(parts);
      return follow(connection, sent.url, options);
    };
  return async (...parts: unknown[]) => {
    const { sent, options } = prepare(parts);
    return call(connection, base, sent, options);
  };
}

/** How an answer is known to be of the kind that an operation gives: nothing, an array, text of a media type, or an object. */
function givenAs(kind = ''): Pick<Sent, 'isExpected' | 'textType'> {
  if (kind === 'nothing') return {};
  if (kind.includes('/')) return { textType: kind };
  return { isExpected: kind === 'list' || kind === 'array' ? Array.isArray : isObject };
}

/**
 * An id that is text.
 *
 * @throws TypeError if it could lead elsewhere, as `..`, a slash and nothing at all would.
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
    ...(ifMatch !== undefined && { 'if-match': etagOf(ifMatch) }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': etagOf(ifNoneMatch) }),
  };
}

async function call(connection: Connection, base: string, sent: Sent, options: AnyOptions): Promise<unknown> {
  const requestId = options.requestId ?? randomId();
  try {
    const received = await send(connection, sent, { ...options, requestId });
    return received.status === 304 ? options.ifNoneMatch : remember(received.data, received);
  } catch (error) {
    // An id that the caller has chosen may be that of other requests, too.
    if (!mayFollowItself(sent, error) || options.requestId !== undefined) throw error;
    const { method, url } = sent;
    const { signal, timeoutMs } = options;
    const request = { method, path: url.pathname, requestId };
    const done = await ownChange(historyOf(connection, base), request, { signal, timeoutMs }).catch(() => {
      signal?.throwIfAborted();
    });
    if (!done) throw error;
    return method === 'DELETE' ? undefined : done;
  }
}

/** Whether a change may be refused because it has been made: then nothing is left to remove, or the state is no longer the one that was named. */
function mayFollowItself({ method, isExpected }: Sent, error: unknown): boolean {
  if (!(error instanceof PetstoreError)) return false;
  if (method === 'DELETE') return error.status === 404 && !isExpected;
  return method !== 'GET' && (error.status === 412 || error.code === 'order_complete');
}

function listOf<Item>(connection: Connection, { url, ...sent }: Sent, options: AnyOptions): List<Item> {
  if (!url.searchParams.has('limit')) url.searchParams.set('limit', String(largestPage));
  const { 'if-none-match': _, ...later } = sent.headers ?? {};
  return new List<Item>(url, async (at, isFirst) => {
    const headers = isFirst ? sent.headers : later;
    const page = { ...sent, url: at, ...(headers && { headers }) };
    const received = await send(connection, page, options);
    const data = received.status === 304 ? options.ifNoneMatch : received.data;
    return { ...received, data: data as Item[] };
  });
}

const historyOf = (connection: Connection, base: string): History => ({
  async last(options) {
    const url = new URL(`${base}/store/events/stream`);
    const { headers } = await send(connection, { method: 'HEAD', url }, options);
    return BigInt(headers.get('last-event-id') ?? 0);
  },
  events(after, type, options) {
    const url = new URL(`${base}/store/events`);
    addQuery(url, { after, type });
    return listOf<Event>(connection, { method: 'GET', url, ...givenAs('list') }, options);
  },
});
