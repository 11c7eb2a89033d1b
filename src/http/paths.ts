import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, errorAt } from '../foundation/errors.ts';
import { fieldLines, isMisframed, preflightHeaders } from './headers.ts';
import type { Operation } from './operation.ts';
import { decoded, encodedPathOf, isForApi, mcpPath, prefix, requestPath, unknownAlias } from './target.ts';
import { headersOf } from './write-response.ts';

const maxHintLength = 500;

/** The methods of each path. It responds to OPTIONS, and explains what is wrong with requests that match no route. */
export class Paths {
  readonly #starts: string[];
  /** The form of each path that is of no API, by the path as the router takes it. */
  readonly #others: ReadonlyMap<string, RegExp>;
  readonly #methodsByPattern: [RegExp, string[]][];

  /** `apis`: the operations by the beginning of their paths. `documents`: read-only paths, as the router takes them. */
  constructor(apis: Readonly<Record<string, readonly Operation[]>>, documents: readonly string[]) {
    this.#starts = Object.keys(apis);
    this.#others = new Map([...documents, mcpPath].map((path) => [path, formOf(path)]));
    const all = Object.entries(apis).flatMap(([start, operations]) =>
      operations.map(({ method, path }) => ({ method, path: start + path })),
    );
    this.#methodsByPattern = [...Map.groupBy(all, ({ path }) => path)].map(([path, group]) => [
      new RegExp(`^${path.replace(/{\w+}/g, '[^/]+')}$`),
      [...group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'],
    ]);
  }

  /** Whether a request asks for a document. */
  isDocument(request: FastifyRequest): boolean {
    return this.#isDocument(requestPath(request));
  }

  #isDocument(path: string): boolean {
    if (path === mcpPath) return false;
    return this.#others.get(path)?.test(path) ?? this.#others.values().some((form) => form.test(path));
  }

  /** For requests outside of the APIs. Throws for another spelling of a path, which the router would accept, and for an unclear request. */
  assertSpelling(request: FastifyRequest): void {
    if (request.operation) return;
    if (request.raw.alias !== undefined && !request.is404) throw unknownAlias();
    const form = this.#others.get(request.routeOptions.url ?? '');
    if (form || !isForApi(request)) assertReadable(request.raw);
    if (form?.test(requestPath(request)) === false) throw this.#notFound(request);
  }

  /** The methods of a path, undefined where it does not exist. */
  #methods(path: string): string[] | undefined {
    if (path === mcpPath) return ['POST', 'OPTIONS'];
    if (this.#isDocument(path)) return ['GET', 'HEAD', 'OPTIONS'];
    return this.#methodsByPattern.find(([pattern]) => pattern.test(path))?.[1];
  }

  /** Throws if a proxy may read the target differently (RFC 9112, section 3.2), or if the description does not have the path. */
  assertTarget(request: FastifyRequest): void {
    assertReadable(request.raw);
    assertHost(request.raw);
    if (!/^(?:\/|https?:)[^#]*$/i.test(request.url)) {
      throw new ApiError(
        'invalid_request',
        'The request target must be a path or an http or https URL, without "#".',
      );
    }
    if (!request.is404 && !request.operation) throw this.#notFound(request);
  }

  /** Responds to OPTIONS on a path that exists. A preflight gets permission only within the API. Throws for everything else. */
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const methods = this.#methods(requestPath(request));
    if (!methods) throw this.#notFound(request);
    const allow = methods.join(', ');
    if (request.method !== 'OPTIONS') {
      throw new ApiError('method_not_allowed', `This path allows ${allow}, not ${request.method}.`, {
        Allow: allow,
      });
    }
    return reply
      .code(204)
      .headers({ ...headersOf(request), Allow: allow, ...(isForApi(request) && preflightHeaders(methods)) })
      .send();
  }

  #notFound(request: FastifyRequest): ApiError {
    const given = encodedPathOf(request);
    // A longer path is not a typing mistake, so it gets no hint.
    if (given.length > maxHintLength) return new ApiError('not_found', 'This path does not exist.');
    const path = given.replace(/\/{2,}/g, '/').replace(/\/$/, '');
    // Outside the APIs only one spelling works.
    const others = [path, `${path}.md`].map(decoded);
    const outside = others.find((other) => other === mcpPath || this.#isDocument(other));
    const candidates = [path, ...this.#starts.map((start) => start + path)];
    const meant = outside ?? candidates.find((candidate) => this.#methods(decoded(candidate)));
    const start = this.#starts.find((start) => path.startsWith(`${start}/`)) ?? prefix;
    const hint = meant
      ? `Did you mean ${meant}?`
      : `${start}/openapi.json lists all paths, and /llms.txt lists the documentation.`;
    return new ApiError('not_found', `This path does not exist. ${hint}`);
  }
}

/** Node.js 22 has no `RegExp.escape`. */
const escaped = (text: string) => text.replaceAll(/\W/g, '\\$&');

/** The form of a path of the router. */
export const formOf = (path: string) => {
  const parts = path.split(/:\w+\(\^(.*?)\$\)/).map((part, i) => (i % 2 === 0 ? escaped(part) : part));
  return new RegExp(`^${parts.join('')}$`);
};

const hostField = { header: 'Host' };

/** Requires one valid Host (RFC 9112, section 3.2). Node.js would use the first of several, and accept any value. */
function assertHost(request: IncomingMessage): void {
  const [host, ...more] = fieldLines(request, 'host');
  if (more.length > 0 || (host === undefined && request.httpVersion !== '1.0')) {
    throw errorAt(hostField, 'invalid_request', 'The Host header must be sent once.');
  }
  if (host && !authority.test(host)) {
    throw errorAt(hostField, 'invalid_request', 'The Host header must be a host, with or without a port.');
  }
}

/** Throws for a version (RFC 9110, section 15.6.6) or a framing that other software may read differently. Then the connection ends. */
function assertReadable(request: IncomingMessage): void {
  if (request.httpVersionMajor !== 1)
    throw new ApiError('http_version_not_supported', `Send HTTP/1.1, not HTTP/${request.httpVersion}.`);
  if (isMisframed(request))
    throw errorAt(
      { header: 'Transfer-Encoding' },
      'invalid_request',
      'Transfer-Encoding must be only "chunked", in an HTTP/1.1 request.',
    );
}

/** Host and port (RFC 3986, sections 3.2.2 and 3.2.3). */
const authority = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;
