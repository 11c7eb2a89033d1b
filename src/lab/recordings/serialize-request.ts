import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { withoutSecrets } from '../../foundation/redact.ts';
import { counted } from '../../foundation/words.ts';
import { commonHeaders, hasContent, isPassedOn } from '../../http/headers.ts';
import type { NamedResponse } from '../../http/server-response.ts';
import type { RequestOutcome } from '../../observe/request-outcome.ts';
import { replacedByOther } from '../faults/conflict.ts';
import { cutEvents } from '../faults/shared/connection-faults.ts';
import { maxRecordedBody, maxRecordedHead } from '../lab-bounds.ts';
import { labPageHeader } from '../lab-page-token.ts';
import { fingerprintOf, hashOfValue, headOf } from './link-attempts.ts';
import { byTime, notKept, type Recorded, type RecordedRow, type StoredFacts } from './recorded-request.ts';
import type { RecordedRequest } from './schema.ts';

/** Headers of requests whose values are kept: none identifies a person or contains a credential. */
const harmless = new Set(
  `accept accept-charset accept-encoding accept-language cache-control connection content-encoding content-language content-length
  content-type date expect host idempotency-key if-match if-modified-since if-none-match if-range if-unmodified-since keep-alive
  last-event-id max-forwards origin pragma prefer priority range sec-fetch-dest sec-fetch-mode sec-fetch-site te trailer
  transfer-encoding upgrade user-agent via x-request-id`.split(/\s+/),
);

/** Headers that are the same in every response. */
const constant = new Set(Object.keys(commonHeaders).map((name) => name.toLowerCase()));

interface Context {
  /** Microseconds since 1970. */
  nowUs: number;
  /** When it began, by the clock of the instance. */
  beganAtMs: number;
  /** When it was admitted, in microseconds since 1970; undefined if it was not. */
  admittedAtUs: number | undefined;
  /** When its client disconnected, in microseconds since 1970, if that was before the end of the response. */
  leftAtUs: number | undefined;
  /** Of a stream: when the last bytes were sent, in microseconds since 1970. */
  sentAtUs: number | undefined;
  connection: string;
  isBehindProxy: boolean;
  labPageToken: string;
}

/** The row of a recorded request, without secrets; undefined if nothing of it could be read. */
export function serializeRequest(facts: RequestOutcome, context: Context): RecordedRow | undefined {
  const { exchange, status, operation, code, faults, requestId, durationMs = 0 } = facts;
  const raw = exchange?.request.raw ?? facts.unread;
  if (!raw) return undefined;
  const { method = '', url = '' } = raw;
  const bytes = exchange ? bodyOf(exchange.request.body, hasContent(exchange.request)) : undefined;
  const hashOf = (data: string | Buffer) => hash('sha256', data, 'base64url');
  const head = hashOf(`${method} ${url} ${raw.headers['content-length'] ?? ''}`);
  const key = raw.headers['idempotency-key'];
  const body = bytes?.length ? textOf(bytes) : null;
  const largeNumbers = body === null ? [] : largeNumbersIn(body);
  const replaced = replacedByOther.get(raw);
  const { nowUs, beganAtMs, admittedAtUs = nowUs, leftAtUs, sentAtUs, connection } = context;
  const durationUs = Math.round(durationMs * 1_000);
  // On a busy machine a response may be recorded long after its end.
  const atUs = Math.min(admittedAtUs, nowUs - durationUs);
  const kept: StoredFacts = {
    requestId: withoutSecrets(requestId),
    method,
    target: withoutSecrets(url).slice(0, maxRecordedHead),
    ...(operation && { operation: operation.id }),
    headers: requestFields(raw),
    ...(bytes && { bodyBytes: bytes.length }),
    ...(largeNumbers.length > 0 && { largeNumbers }),
    ...(status > 0 && { status }),
    // A stream has no response to complete.
    ...(leftAtUs !== undefined &&
      (sentAtUs === undefined
        ? { left: true }
        : { silenceMs: Math.max(0, Math.round((leftAtUs - sentAtUs) / 1_000)) })),
    ...(cutEvents.has(raw) && { cutEventId: cutEvents.get(raw) as string }),
    ...(code !== undefined && { code }),
    ...(faults?.length && { fault: faults.join(' ') }),
    ...(replaced && { otherWriter: { ...replaced, before: withoutSecrets(replaced.before) } }),
    ...valuesOf(method, body),
    answer: exchange ? answerFields(exchange.reply.raw) : {},
    connection,
    isProxied: context.isBehindProxy || isPassedOn(raw),
    ...(raw.headers[labPageHeader] === context.labPageToken && { labPage: true }),
  };
  return {
    atUs,
    // The service may begin a pipelined request after its client disconnected.
    tookUs: leftAtUs === undefined ? durationUs : Math.max(0, leftAtUs - atUs),
    beganAtMs,
    fingerprint: fingerprintOf(head, bytes && hashOf(bytes), key && hashOf(`${method} ${url} ${key}`)),
    facts: JSON.stringify(kept),
    body,
  };
}

/** The bytes of a body; undefined if it was not read. */
function bodyOf(body: unknown, hasOne: boolean): Buffer | undefined {
  if (body instanceof Buffer) return body;
  return hasOne ? undefined : Buffer.alloc(0);
}

const maxValues = 50;

/** The hashes of the properties of a change. */
function valuesOf(method: string, body: string | null | undefined): Pick<Recorded, 'values'> {
  if (!body || (method !== 'PUT' && method !== 'PATCH')) return {};
  try {
    const values = Object.entries(JSON.parse(body)).slice(0, maxValues);
    return { values: Object.fromEntries(values.map(([name, value]) => [name, hashOfValue(value)])) };
  } catch {
    return {};
  }
}

/** The beginning of a body as text, without secrets. */
function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes) || bytes.includes(0))
    return `(${counted(bytes.length, 'byte')} that ${bytes.length === 1 ? 'is' : 'are'} not text)`;
  // Comes before the cut, since half of a secret would not be recognized.
  const clean = Buffer.from(withoutSecrets(bytes.toString()));
  // With `stream`, a character that is cut in two is left out.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(clean.subarray(0, maxRecordedBody), {
    stream: true,
  });
}

/** The headers of a request. Values that may be secret are replaced by `notKept`. */
function requestFields({ rawHeaders }: IncomingMessage): Record<string, string> {
  const fields = new Fields();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    const value = harmless.has(name) ? withoutSecrets(rawHeaders[i + 1] as string) : notKept;
    fields.add(withoutSecrets(name), value);
  }
  return fields.kept;
}

function answerFields(response: ServerResponse): Record<string, string> {
  const { head, readyLines = '' } = response as Partial<NamedResponse>;
  const given = typeof head === 'object' ? head : response.getHeaders();
  const ready = readyLines.split('\r\n').flatMap((line) => /^(.+?): (.*)$/.exec(line)?.slice(1) ?? []);
  const list = [...ready, ...(Array.isArray(given) ? given : Object.entries(given).flat())];
  const fields = new Fields();
  for (let i = 0; i < list.length; i += 2) {
    const name = String(list[i]).toLowerCase();
    if (!constant.has(name)) fields.add(name, withoutSecrets(String(list[i + 1])));
  }
  // Node.js adds it to the bytes only.
  if (!response.shouldKeepAlive) fields.kept.connection = 'close';
  return fields.kept;
}

/** Headers, up to `maxRecordedHead` characters. */
class Fields {
  readonly kept: Record<string, string> = Object.create(null);
  #room = maxRecordedHead;

  add(name: string, value: string): void {
    this.#room -= name.length + value.length;
    if (this.#room < 0) return;
    const before = this.kept[name];
    this.kept[name] = before === undefined || value === notKept ? value : `${before}, ${value}`;
  }
}

const maxNumbers = 20;
const maxNumberLength = 40;

/** JSON strings. The last one may be cut off. */
const strings = /"(?:[^"\\]|\\.?)*(?:"|$)/gs;
const numbers = /\d[\d.]*(?:e\+?\d+)?/gi;
const isLong = /\d{15}/;

/** The numbers of a JSON text that a double may not hold exactly, as written, each once. Digits in strings do not count. */
export function largeNumbersIn(text: string): string[] {
  if (!isLong.test(text)) return [];
  const found = text.replace(strings, '').match(numbers) ?? [];
  const large = found.filter((number) => number.length <= maxNumberLength && isLong.test(number));
  return [...new Set(large)].slice(0, maxNumbers);
}

/** Requests of one recording as checks read them, in the order of time. They must still have their bodies. */
export function toRecorded(requests: readonly RecordedRequest[]): Recorded[] {
  const keyedHead = ({ fingerprint, headers }: RecordedRequest) =>
    `${headOf(fingerprint)} ${headers['idempotency-key']}`;
  const isRead = ({ bodyBytes }: RecordedRequest) => bodyBytes !== undefined;
  const read = new Set(requests.filter(isRead).map(keyedHead));
  const isKnown = (request: RecordedRequest) =>
    isRead(request) || (request.headers['idempotency-key'] !== undefined && read.has(keyedHead(request)));
  const recorded = requests.map((request): Recorded => {
    const { at, offsetMs, retryOf: _, ...rest } = request;
    const largeNumbers = largeNumbersIn(rest.body ?? '');
    return {
      ...rest,
      // `at` has whole milliseconds.
      atMs: Date.parse(at) + offsetMs - Math.floor(offsetMs),
      ...(largeNumbers.length > 0 && { largeNumbers }),
      ...valuesOf(rest.method, rest.body),
      ...(!isKnown(request) && { isGuessed: true as const }),
    };
  });
  return recorded.sort(byTime);
}
