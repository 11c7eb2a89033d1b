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

/** An encoded slash stays encoded, since it separates nothing, and so does a segment that is malformed. */
export const decoded = (path: string) => path.split('/').map(decodedSegment).join('/');

const decodedPathOf = (request: FastifyRequest) => decoded(encodedPathOf(request));

const isBelow = (path: string) => path === prefix || path.startsWith(`${prefix}/`);

const withoutQueryAndOrigin = ({ url }: FastifyRequest) =>
  url.replace(/\?.*$/s, '').replace(/^https?:\/\/[^/#]*/i, '') || '/';

function decodedSegment(segment: string): string {
  try {
    return decodeURI(segment);
  } catch {
    return segment;
  }
}
