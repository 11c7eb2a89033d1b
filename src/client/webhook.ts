import type { Event, EventsMissed, Ping } from './description.ts';
import { PetstoreError, unexpected } from './error.ts';
import { parseExactly } from './exact-json.ts';

/** Headers as `Headers`, or as the objects of Node.js, Express and others. */
type Fields = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** How a message is verified. */
export interface VerifyOptions {
  /** How far its time may be from the present, in seconds. It bounds how long a copy can be sent again. 300 by default. */
  toleranceSeconds?: number;
  /** The present, in milliseconds since 1970. */
  now?: () => number;
}

/** The service signs with two secrets at most. */
const mostSignatures = 10;
const text = new TextEncoder();

/**
 * Verifies the signature and time of a webhook message (Standard Webhooks 1.0), and returns its event. A message may come more than once:
 * `webhook-id` stays the same.
 *
 * @param body The body exactly as it came, as text or bytes. Do not pass a parsed object.
 * @param fields The headers, under names in any case.
 * @param secret The `whsec_…` that `createWebhook` or `rotateWebhookSecret` returned.
 * @throws TypeError if the secret or `toleranceSeconds` is invalid.
 * @throws PetstoreError `bad_signature` if the message is not genuine, is too old, or lacks a field: respond with 400.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  fields: Fields,
  secret: string,
  { toleranceSeconds = 300, now = Date.now }: VerifyOptions = {},
): Promise<Event | EventsMissed | Ping> {
  const secretBytes = decoded(String(secret ?? '').replace(/^whsec_/, ''));
  if (secretBytes.length === 0)
    throw new TypeError('The secret must be the whsec_… that createWebhook or rotateWebhookSecret returned.');
  if (!(toleranceSeconds >= 0)) throw new TypeError('toleranceSeconds must be a number, 0 or more.');
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    fieldOf(fields, `webhook-${name}`),
  );
  if (!id || !timestamp || !signatures)
    throw bad('It lacks webhook-id, webhook-timestamp or webhook-signature.');
  const ageSeconds = now() / 1_000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp) || !(Math.abs(ageSeconds) <= toleranceSeconds))
    throw bad('Its time is too far from the present.');
  const bytes = typeof body === 'string' ? text.encode(body) : new Uint8Array(body);
  const signed = new Uint8Array(await new Blob([`${id}.${timestamp}.`, bytes]).arrayBuffer());
  const key = await crypto.subtle.importKey('raw', secretBytes, hmac, false, ['verify']);
  for (const signature of signatures.split(' ').slice(0, mostSignatures)) {
    const [version, digest = ''] = signature.split(',');
    // `verify` compares in constant time.
    if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, decoded(digest), signed)))
      return eventOf(new TextDecoder().decode(bytes));
  }
  throw bad('No signature matches this secret.');
}

const hmac = { name: 'HMAC', hash: 'SHA-256' };

const bad = (message: string) => new PetstoreError({ code: 'bad_signature', message });

function fieldOf(fields: Fields, name: string): string | undefined {
  if (fields instanceof Headers) return fields.get(name) ?? undefined;
  const [, value] = Object.entries(fields).find(([key]) => key.toLowerCase() === name) ?? [];
  return value === undefined ? undefined : String(value);
}

/** The bytes of a Base64 text. Empty if it is invalid. */
function decoded(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function eventOf(body: string): Event | EventsMissed | Ping {
  try {
    return parseExactly(body) as Event | EventsMissed | Ping;
  } catch (cause) {
    throw unexpected('The message is not JSON.', { cause });
  }
}
