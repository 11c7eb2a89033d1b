import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../foundation/errors.ts';

/** A request, or the readable part of a request whose body was broken. */
interface Targeted {
  url?: string | undefined;
}

/** The beginning of all paths of the API. */
export const prefix = '/v1';

/** The prefix of all paths of the lab, which is an API of its own. */
export const labPrefix = '/lab';

/** The URL of the lab of an API. */
export const labUrlOf = (baseUrl: string) => baseUrl.replace(/\/v1$/, labPrefix);

/** The prefix of all paths about a key's own account, which is an API of its own. */
export const accountsPrefix = '/accounts';

/** What stands before the paths of the accounts API, which start with its prefix. */
export const rootUrlOf = (baseUrl: string) => baseUrl.replace(/\/v1$/, '');

/** Where agents send messages of the Model Context Protocol. */
export const mcpPath = '/mcp';

/** Whether a request is for an API, whose responses all carry the limits and may be read by any web page. */
export function isForApi(request: FastifyRequest): boolean {
  if (request.url.startsWith(`${prefix}/`)) return true;
  const path = decodedPathOf(request);
  return startOf(request, path) !== undefined && !request.server.pageForms.some((form) => form.test(path));
}

/** Whether a request is for the lab, where there is one. */
export const isForLab = (request: Targeted) => isBelow(labPrefix, decodedPathOf(request));

/** Whether a request is about an account. Its response may contain an API key. */
export const isForAccounts = (request: Targeted) => isBelow(accountsPrefix, decodedPathOf(request));

/** Whether a request is a message of an agent. */
export const isForMcp = (request: Targeted) => decodedPathOf(request) === mcpPath;

/** Whether a plan counts a request with a key: all but messages and those to the lab and about accounts, which have limits of their own. */
export const isForPlan = (request: Targeted) =>
  request.url?.startsWith(`${prefix}/`) ||
  (!isForLab(request) && !isForAccounts(request) && !isForMcp(request));

/** The path of a request: decoded within an API, elsewhere as written, because a proxy may block paths such as `/metrics`. */
export function requestPath(request: FastifyRequest): string {
  const path = decodedPathOf(request);
  return startOf(request, path) === undefined ? withoutQueryAndOrigin(request) : path;
}

/** Without query and fragment, and without the origin of a target in absolute form. */
export const encodedPathOf = (request: Targeted) =>
  withoutQueryAndOrigin(request).replace(/#.*$/s, '') || '/';

/** An encoded slash separates nothing. If a part is malformed only the first segment is decoded: each failure costs as much as a request. */
export function decoded(path: string): string {
  const whole = decodedPart(path);
  if (whole !== undefined) return whole;
  const first = /^\/[^/]*/.exec(path)?.[0] ?? '';
  return (decodedPart(first) ?? first) + path.slice(first.length);
}

const decodedPathOf = (request: Targeted) => decoded(encodedPathOf(request));

/** The beginning of the API that a path is for. */
const startOf = ({ server }: FastifyRequest, path: string) =>
  server.apiStarts.find((start) => isBelow(start, path));

const isBelow = (start: string, path: string) => path === start || path.startsWith(`${start}/`);

const withoutQueryAndOrigin = ({ url = '' }: Targeted) =>
  url.replace(/\?.*$/s, '').replace(/^https?:\/\/[^/#]*/i, '') || '/';

function decodedPart(part: string): string | undefined {
  try {
    return decodeURI(part);
  } catch {
    return undefined;
  }
}

const aliasedPath = new RegExp(`^${prefix}/moved/([\\w-]{8,64})(?=/)`);

/** Another path of a target, with an alias in it. Redirects lead there. */
export const aliasedTarget = (alias: string, target: string) =>
  `${prefix}/moved/${alias}${target.slice(prefix.length)}`;

/** Notes the alias in the path of a request, and returns its target without it. */
export function withoutAlias(request: IncomingMessage): string {
  const { url = '' } = request;
  const [start, alias] = aliasedPath.exec(url) ?? [];
  if (start === undefined || alias === undefined) return url;
  request.alias = alias;
  return prefix + url.slice(start.length);
}

/** No redirect leads to this alias, or none does any more. */
export const unknownAlias = () =>
  new ApiError('not_found', 'This path does not exist. A redirect to it works only for a limited time.');

/** The address of the reference of an API at `baseUrl`, also behind a proxy with a prefix. */
export const referenceUrl = (baseUrl: string) => baseUrl.replace(/v1$/, 'reference');

/** The reference has a page for each error code below this URL. */
export const errorPagesUrl = (baseUrl: string) => `${referenceUrl(baseUrl)}/errors`;

/** The reference with a key for the page. The key comes after `#`, so a browser does not send it (RFC 9110, section 7.1). */
export const referenceUrlWithKey = (baseUrl: string, key: string) => `${referenceUrl(baseUrl)}#key=${key}`;

/** The address of the lab's page, with a key behind `#`. */
export const labPageUrlWithKey = (baseUrl: string, key: string) =>
  `${baseUrl.replace(/v1$/, 'lab')}#key=${key}`;
