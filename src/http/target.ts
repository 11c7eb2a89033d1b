import type { FastifyRequest } from 'fastify';

/** What the paths of the API begin with. */
export const prefix = '/v1';

/** Whether a request is for the API, whose answers all carry the limits and may be read by any web page. */
export const isForApi = (request: FastifyRequest) =>
  request.url.startsWith(`${prefix}/`) || isBelow(decodedPathOf(request));

/**
 * The path that a request names: below `/v1` as the router reads it, and elsewhere as it is written. What stands before
 * this service may keep paths such as `/metrics` inside, and would not know them in another spelling.
 */
export function pathOf(request: FastifyRequest): string {
  const path = decodedPathOf(request);
  return isBelow(path) ? path : withoutQueryAndOrigin(request);
}

/** Without query and fragment, and without the origin that a client of a proxy sends along. */
export const encodedPathOf = (request: FastifyRequest) =>
  withoutQueryAndOrigin(request).replace(/#.*$/s, '') || '/';

/**
 * An encoded slash stays encoded, since it separates nothing. Of a path with a malformed part the first segment alone is
 * decoded, which tells whether it is below `/v1`: each part that fails costs as much as a request.
 */
export function decoded(path: string): string {
  const whole = decodedPart(path);
  if (whole !== undefined) return whole;
  const first = /^\/[^/]*/.exec(path)?.[0] ?? '';
  return (decodedPart(first) ?? first) + path.slice(first.length);
}

const decodedPathOf = (request: FastifyRequest) => decoded(encodedPathOf(request));

const isBelow = (path: string) => path === prefix || path.startsWith(`${prefix}/`);

const withoutQueryAndOrigin = ({ url }: FastifyRequest) =>
  url.replace(/\?.*$/s, '').replace(/^https?:\/\/[^/#]*/i, '') || '/';

function decodedPart(part: string): string | undefined {
  try {
    return decodeURI(part);
  } catch {
    return undefined;
  }
}
