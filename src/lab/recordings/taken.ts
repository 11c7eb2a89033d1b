import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answered } from '../../answered.ts';
import { commonHeaders, hasContent, isPassedOn } from '../../http/headers.ts';
import type { NamedResponse } from '../../http/named-response.ts';
import { withoutSecrets } from '../../redact.ts';
import { maxRecordedBody, maxRecordedHead } from '../bounds.ts';
import { fingerprintOf } from './attempts.ts';
import { largeNumbersIn } from './large-numbers.ts';
import { notKept, type RecordedFacts, type RecordedRow } from './recorded.ts';

/** Header fields of requests whose values are kept: none says who someone is, or opens something. */
const harmless = new Set(
  `accept accept-charset accept-encoding accept-language cache-control connection content-encoding content-language content-length
  content-type date expect host idempotency-key if-match if-modified-since if-none-match if-range if-unmodified-since keep-alive
  last-event-id max-forwards origin pragma prefer priority range sec-fetch-dest sec-fetch-mode sec-fetch-site te trailer
  transfer-encoding upgrade user-agent via x-request-id`.split(/\s+/),
);

/** Fields that are the same in every answer. */
const constant = new Set(Object.keys(commonHeaders).map((name) => name.toLowerCase()));

/** How a request is told apart from others, and which of what is known about it is kept. */
interface Place {
  /** Microseconds since 1970. */
  nowUs: number;
  /** When it began, by the clock of the instance. */
  beganAtMs: number;
  /** When its client left, in microseconds since 1970, if it did before the end of the answer. */
  leftAtUs: number | undefined;
  connection: string;
  /** Whether proxies are configured. */
  isBehindProxy: boolean;
}

/** What is kept of an answered request, without secrets; undefined if nothing of it could be read. */
export function take(facts: Answered, place: Place): RecordedRow | undefined {
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
  const atUs = place.nowUs - Math.round(durationMs * 1_000);
  const endUs = place.leftAtUs ?? place.nowUs;
  const kept: RecordedFacts = {
    requestId: withoutSecrets(requestId),
    method,
    target: withoutSecrets(url).slice(0, maxRecordedHead),
    ...(operation && { operation: operation.id }),
    headers: requestFields(raw),
    ...(bytes && { bodyBytes: bytes.length }),
    ...(largeNumbers.length > 0 && { largeNumbers }),
    ...(status > 0 && { status }),
    ...(place.leftAtUs !== undefined && { left: true }),
    ...(code !== undefined && { code }),
    ...(faults?.length && { fault: faults.join(' ') }),
    ...(faults?.includes('conflict') && { properties: propertiesOf(bytes) }),
    answer: exchange ? answerFields(exchange.reply.raw) : {},
    connection: place.connection,
    isProxied: place.isBehindProxy || isPassedOn(raw),
  };
  return {
    atUs,
    // One that came before the client left may be handled after it.
    tookUs: Math.max(0, endUs - atUs),
    beganAtMs: place.beganAtMs,
    fingerprint: fingerprintOf(head, bytes && hashOf(bytes), key && hashOf(String(key))),
    facts: JSON.stringify(kept),
    body,
  };
}

/** The bytes of a body; undefined if there was one that was not read. */
function bodyOf(body: unknown, hasOne: boolean): Buffer | undefined {
  if (body instanceof Buffer) return body;
  return hasOne ? undefined : Buffer.alloc(0);
}

/** The names of the properties of a JSON object. */
function propertiesOf(bytes: Buffer | undefined): string[] {
  try {
    return Object.keys(JSON.parse(String(bytes))).map(withoutSecrets);
  } catch {
    return [];
  }
}

/** The beginning of a body as text, without secrets. */
function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes) || bytes.includes(0)) return `(${bytes.length} bytes that are not text)`;
  // A secret that is cut in two would not be recognized any more.
  const clean = Buffer.from(withoutSecrets(bytes.toString()));
  // Leaves out the character that is cut in two.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(clean.subarray(0, maxRecordedBody), {
    stream: true,
  });
}

/** The names of fields, with the values of those that are harmless. */
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
  const { head } = response as Partial<NamedResponse>;
  const given = typeof head === 'object' ? head : response.getHeaders();
  const list = Array.isArray(given) ? given : Object.entries(given).flat();
  const fields = new Fields();
  for (let i = 0; i < list.length; i += 2) {
    const name = String(list[i]).toLowerCase();
    if (!constant.has(name)) fields.add(name, withoutSecrets(String(list[i + 1])));
  }
  return fields.kept;
}

/** Header fields, of which those are kept that there is room for. */
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
