import type { FastifyRequest } from 'fastify';

/** The beginning of all paths of the API. */
export const prefix = '/v1';

/** The beginning of all paths of the lab, an API of its own beside it. */
export const labPrefix = '/lab';

/** Whether a request is for the API or the lab, whose answers all carry the limits and may be read by any web page. */
export const isForApi = (request: FastifyRequest) =>
  request.url.startsWith(`${prefix}/`) || isBelow(decodedPathOf(request));

/**
 * The path of a request: below `/v1` and `/lab` decoded as the router does, elsewhere as it is written. A proxy may block paths such
 * as `/metrics`, and would not recognize them in another spelling.
 */
export function pathOf(request: FastifyRequest): string {
  const path = decodedPathOf(request);
  return isBelow(path) ? path : withoutQueryAndOrigin(request);
}

/** Without query and fragment, and without the origin of a target in absolute form. */
export const encodedPathOf = (request: FastifyRequest) =>
  withoutQueryAndOrigin(request).replace(/#.*$/s, '') || '/';

/**
 * An encoded slash stays encoded, since it is not a separator. If a part is malformed, only the first segment is decoded,
 * to see whether the path is below one of these: each part that fails costs as much as a request.
 */
export function decoded(path: string): string {
  const whole = decodedPart(path);
  if (whole !== undefined) return whole;
  const first = /^\/[^/]*/.exec(path)?.[0] ?? '';
  return (decodedPart(first) ?? first) + path.slice(first.length);
}

const decodedPathOf = (request: FastifyRequest) => decoded(encodedPathOf(request));

const isBelow = (path: string) => isBelowOf(prefix, path) || isBelowOf(labPrefix, path);

const isBelowOf = (start: string, path: string) => path === start || path.startsWith(`${start}/`);

/** Whether a request is for the lab. */
export const isForLab = (request: FastifyRequest) => isBelowOf(labPrefix, decodedPathOf(request));

const withoutQueryAndOrigin = ({ url }: FastifyRequest) =>
  url.replace(/\?.*$/s, '').replace(/^https?:\/\/[^/#]*/i, '') || '/';

function decodedPart(part: string): string | undefined {
  try {
    return decodeURI(part);
  } catch {
    return undefined;
  }
}
