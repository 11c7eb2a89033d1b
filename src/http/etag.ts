import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { errorAt } from '../foundation/errors.ts';

/** A strong entity tag (RFC 9110, section 8.8.3): equal representations have equal tags, also after changes in between. */
export const etagOf = (representation: string): string => `"${hash('sha1', representation, 'base64url')}"`;

const tagOf = (characters: string) => `(?:W/)?"[${characters}]*"`;

/** What a client should send in If-Match and If-None-Match: the form in which every server reads it. */
export const entityTagsPattern = `^(?:\\*|${tagOf('!#-~')}(?:, ?${tagOf('!#-~')})*)$`;

/** With bytes beyond ASCII, which servers must take as they are. */
const tag = tagOf('!#-~\\x80-\\xff');

/** The members of an If-Match or If-None-Match field, or `*`. Throws `invalid_request` for anything else. */
export function parseEntityTags(field: string, value: string): '*' | string[] {
  if (value.trim() === '*') return '*';
  if (!new RegExp(`^[\\s,]*${tag}(?:[ \\t]*,[\\s,]*${tag})*[\\s,]*$`).test(value)) {
    throw errorAt(
      { header: field },
      'invalid_request',
      `${field} must be * or entity tags in double quotes, such as "abc".`,
    );
  }
  return value.match(new RegExp(tag, 'g')) as string[];
}

/** The conditions of a request on the current representation. */
export interface Preconditions {
  ifMatch: '*' | string[] | undefined;
  ifNoneMatch: '*' | string[] | undefined;
}

/** If-Match is read for changes only; a GET may send anything in it. */
export function preconditionsOf(headers: IncomingHttpHeaders, isChange: boolean): Preconditions {
  const read = (field: string, value: string | undefined) =>
    value === undefined ? undefined : parseEntityTags(field, value);
  return {
    ifMatch: isChange ? read('If-Match', headers['if-match']) : undefined,
    ifNoneMatch: read('If-None-Match', headers['if-none-match']),
  };
}

/** If-None-Match (RFC 9110, section 13.1.2): whether it matches this representation (weak comparison). */
export function isKnown(ifNoneMatch: '*' | string[], etag: string): boolean {
  return ifNoneMatch === '*' || ifNoneMatch.some((tag) => tag === etag || tag === `W/${etag}`);
}

/** Throws `precondition_failed` unless If-Match (RFC 9110, section 13.1.1) and If-None-Match allow a change to `current`. */
export function assertMayChange({ ifMatch, ifNoneMatch }: Preconditions, current: string): void {
  if (ifMatch !== undefined && ifMatch !== '*' && !ifMatch.includes(etagOf(current))) {
    throw errorAt(
      { header: 'If-Match' },
      'precondition_failed',
      'If-Match does not match: the resource has changed. Read it again, and repeat the change on the new version.',
    );
  }
  if (ifNoneMatch !== undefined && isKnown(ifNoneMatch, etagOf(current))) {
    throw errorAt(
      { header: 'If-None-Match' },
      'precondition_failed',
      'If-None-Match matches the current version of the resource.',
    );
  }
}
