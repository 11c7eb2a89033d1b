import { hash } from 'node:crypto';
import { ApiError } from '../errors.ts';

/**
 * A strong entity tag (RFC 9110, section 8.8.3): equal representations have equal tags, whatever happened to the
 * resource in between.
 */
export const etagOf = (representation: unknown): string =>
  `"${hash('sha1', JSON.stringify(representation), 'base64url')}"`;

/** The members of an If-Match or If-None-Match field, or `*`. Throws `invalid_request` for anything else. */
export function parseEntityTags(field: string, value: string): '*' | string[] {
  if (value.trim() === '*') return '*';
  const tag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
  if (!new RegExp(`^[\\s,]*${tag}(?:[ \\t]*,[\\s,]*${tag})*[\\s,]*$`).test(value)) {
    throw new ApiError(
      'invalid_request',
      `${field} must be * or entity tags in double quotes, such as "abc".`,
    );
  }
  return value.match(new RegExp(tag, 'g')) as string[];
}

/** If-None-Match (RFC 9110, section 13.1.2): whether the caller has this representation already. Compares weakly. */
export function isNotModified(ifNoneMatch: '*' | string[], etag: string): boolean {
  return ifNoneMatch === '*' || ifNoneMatch.some((tag) => tag.replace(/^W\//, '') === etag);
}

/** If-Match (RFC 9110, section 13.1.1): throws `precondition_failed` unless `current` is what the caller has. Compares strongly. */
export function assertMatch(ifMatch: '*' | string[], current: unknown): void {
  if (ifMatch === '*' || ifMatch.includes(etagOf(current))) return;
  throw new ApiError(
    'precondition_failed',
    'If-Match names another version: the resource has changed. Get it again and repeat the change on what you get.',
  );
}
