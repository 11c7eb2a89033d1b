import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import { presentedKey } from '../access/keys/identify.ts';
import { createLab, createPetstore, PetstoreError, parseExactly, type Requests } from '../client/index.ts';
import { nextLink } from '../client/list.ts';
import { askedWaitMs } from '../client/retry-delays.ts';
import {
  ApiError,
  invalidRequest,
  maxNamed,
  shortMessage,
  type ValueProblem,
  type ValueSubject,
} from '../foundation/errors.ts';
import { quote } from '../foundation/redact.ts';
import { isId, toInt64 } from '../foundation/schema.ts';
import { originOf } from '../http/address.ts';
import { fieldLines, proxyFields } from '../http/headers.ts';
import { type Exchange, injectFetch } from '../http/inject-fetch.ts';
import { prefix } from '../http/target.ts';
import { ownTraceparentOf } from '../http/trace-context.ts';
import { objectReader, type Values } from '../http/values.ts';
import { maxDelayMs } from '../lab/lab-bounds.ts';
import type { Tool } from './tools.ts';

/** A tool, and the parser of its arguments. */
interface CallableTool extends Tool {
  /** Parses and validates arguments. Throws `invalid_request`, which names the wrong ones. */
  read(given: Values): Values;
}

/** The most bytes of a message within JSON. A result has it twice, once as JSON within JSON. */
const maxMessageBytes = 550;

/** What a call returns, as an object of JSON. */
interface Outcome {
  isError: boolean;
  content: Values;
}

export function callable(tool: Tool): CallableTool {
  const { name: toolName, arguments: properties } = tool;
  const readNumbers = objectReader(properties, argument);
  const names = Object.keys(properties);
  const read = (given: Values): Values => {
    const problems: ValueProblem[] = [];
    const unknown = Object.keys(given).filter((name) => !names.includes(name));
    if (unknown.length > 0) {
      const shown = unknown.slice(0, maxNamed).map(quote);
      if (unknown.length > maxNamed) shown.push(`${unknown.length - maxNamed} more`);
      const are = unknown.length === 1 ? 'is not an argument' : 'are not arguments';
      problems.push({ detail: `${shown.join(', ')} ${are} of ${toolName}, which takes ${names.join(', ')}` });
    }
    const own = names.filter((name) => given[name] !== undefined);
    const mapped = (map: (id: unknown, name: string) => unknown) =>
      Object.fromEntries(
        own.map((name) => [name, mapIds(properties[name] as TSchema, given[name], (id) => map(id, name))]),
      );
    const exact = mapped((id, name) => {
      const detail = 'must be a string of digits: no number is exact beyond 2^53';
      const isRounded = Number.isInteger(id) && !Number.isSafeInteger(id);
      if (isRounded) problems.push({ ...argument(name), detail });
      return isDigits(id) ? BigInt(id) : id;
    });
    readNumbers(
      mapped((id) => (isDigits(id) ? toInt64(id) : undefined) ?? id),
      problems,
    );
    if (problems.length > 0) throw invalidRequest(problems);
    return exact;
  };
  return { ...tool, read };
}

const argument = (...path: (string | number)[]): ValueSubject => ({
  subject: `Argument ${path.join('.')}`,
  place: { parameter: String(path[0]) },
});

/** An integer of 64 bits has 19 digits at most. */
const isDigits = (id: unknown): id is string => typeof id === 'string' && /^(?:0|-?[1-9]\d{0,18})$/.test(id);

/** A value with other ids. */
function mapIds(schema: TSchema, value: unknown, map: (id: unknown) => unknown): unknown {
  const { items } = schema as { items?: TSchema };
  if (items && Array.isArray(value)) return value.map((item) => mapIds(items, item, map));
  return isId(schema) ? map(value) : value;
}

/** Sends the request of a tool with `client`, and returns the result of the tool. Throws failures of the service. */
export async function callTool(
  tool: CallableTool,
  given: Values,
  client: Requests,
  clock: () => number,
): Promise<Outcome> {
  try {
    const result = await run(tool, tool.read(given), client);
    return { isError: false, content: JSON.parse(JSON.stringify(result, withExactIds)) };
  } catch (error) {
    if (error instanceof PetstoreError) return { isError: true, content: failureOf(error, clock()) };
    if (!(error instanceof ApiError)) throw error;
    const { code, message } = error;
    return { isError: true, content: { code, message: shortMessage(message, maxMessageBytes) } };
  }
}

/** The client returns integers beyond 2^53 as `bigint`. */
const withExactIds = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

async function run(tool: CallableTool, values: Values, client: Requests): Promise<Values> {
  const { operation, fixed, items, only } = tool;
  const { idempotencyKey, ...others } = values;
  const valuesOf = (properties: object) =>
    Object.fromEntries(Object.entries(others).filter(([name]) => Object.hasOwn(properties, name)));
  const path = operation.path.replace(/{(\w+)}/g, (_, name) => String(values[name]));
  const { data, headers } = await client.request(operation.method, path, {
    query: valuesOf(operation.query),
    ...(operation.body && { body: { ...valuesOf(operation.body.properties), ...fixed } }),
    ...(idempotencyKey !== undefined && { idempotencyKey: String(idempotencyKey) }),
  });
  if (data === undefined) return { done: true };
  if (only) return Object.fromEntries(only.map((name) => [name, (data as Values)[name]]));
  if (!items) return data as Values;
  const next = nextLink(headers.get('link'));
  const position = headers.get('last-event-id');
  return {
    [items]: data,
    ...(next && { nextCursor: new URL(next).searchParams.get('cursor') }),
    ...(position && { position: parseExactly(position) }),
  };
}

function failureOf({ code, message, headers, mayBeDone }: PetstoreError, nowMs: number): Values {
  const waitMs = headers && askedWaitMs(headers, nowMs);
  const shown = shortMessage(message, maxMessageBytes);
  return {
    code,
    message: shown + (mayBeDone ? ' The call may have taken effect. Send the same call again.' : ''),
    ...(waitMs !== undefined && { retryAfterSeconds: Math.ceil(waitMs / 1_000) }),
  };
}

/** Sends requests of a caller below the path of an API. */
type ClientOf = (start: Tool['start']) => Requests;

/** Clients that send requests for a caller, without a connection. `baseUrl`: the address of the API for callers. */
export const clientsFor =
  (app: FastifyInstance, baseUrl: string, clock: () => number, caller: Exchange): ClientOf =>
  (start) => {
    const { request } = caller;
    const inject = injectFetch(app, caller);
    const fields = ['host', 'user-agent', ...proxyFields].flatMap((name) =>
      fieldLines(request.raw, name).map((value): [string, string] => [name, value]),
    );
    const traceparent = ownTraceparentOf(request);
    const options = {
      // The client follows redirects within its origin only, and a rehearsed one may name the origin of the caller.
      baseUrl: (originOf(request, baseUrl) ?? 'http://localhost') + prefix,
      apiKey: presentedKey(request.headers.authorization, request.headers['x-api-key'] as string | undefined),
      // The agent decides about retries and timeouts.
      attempts: 1,
      ...{ attemptTimeoutMs: 2 * maxDelayMs, timeoutMs: 2 * maxDelayMs },
      clock: { now: clock },
      fetch: ((url, { headers, ...init } = {}) => {
        const all = new Headers(headers);
        for (const [name, value] of fields) all.append(name, value);
        all.set('x-request-id', request.id);
        if (traceparent) all.set('traceparent', traceparent);
        return inject(url, { ...init, headers: all });
      }) as typeof fetch,
    };
    return start === prefix ? createPetstore(options) : createLab(options);
  };
