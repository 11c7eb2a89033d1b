import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { wholeKey } from './key-pattern.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumLength = 6;

/** `length` random base62 digits from a cryptographic source. */
export const randomDigits = (length: number) =>
  Array.from({ length }, () => base62[randomInt(base62.length)]).join('');

/** CRC-32 of `text` as base62 digits. */
function checksum(text: string): string {
  let rest = crc32(text);
  let result = '';
  for (let i = 0; i < checksumLength; i++) {
    result = base62[rest % base62.length] + result;
    rest = Math.floor(rest / base62.length);
  }
  return result;
}

/** A new API key: `pet_`, 30 random base62 digits, and a checksum over both. */
export function generateKey(): string {
  const body = `pet_${randomDigits(30)}`;
  return body + checksum(body);
}

/** Whether a text has the form of a key. A mistyped key costs no look-up. */
export function isWellFormedKey(text: string): boolean {
  return wholeKey.test(text) && text.endsWith(checksum(text.slice(0, -checksumLength)));
}

/** The stored form of a key: its SHA-256 in hexadecimal digits. */
export const hashKey = (key: string): string => hash('sha256', key);
