import type { IncomingMessage } from 'node:http';
import { ApiError } from '../foundation/errors.ts';
import { prefix } from './target.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** The place in its path, if a rehearsal has redirected it. The rest of its path is in `url`. */
    movedTo?: string;
  }
}

const movedPath = new RegExp(`^${prefix}/moved/([\\w-]{8,64})(?=/)`);

/** The target that a request is redirected to: the same path below a place. */
export const movedTarget = (place: string, target: string) =>
  `${prefix}/moved/${place}${target.slice(prefix.length)}`;

/** Finds the place in the path of a request, and returns its target without it. */
export function takePlace(request: IncomingMessage): string {
  const { url = '' } = request;
  const [start, place] = movedPath.exec(url) ?? [];
  if (start === undefined || place === undefined) return url;
  request.movedTo = place;
  return prefix + url.slice(start.length);
}

/** No request was redirected to this place, or the redirect has expired. */
export const nothingThere = () =>
  new ApiError(
    'not_found',
    `This path does not exist. The redirects of a rehearsal work only while it is active.`,
  );
