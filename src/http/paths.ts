import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { headersOf } from './answer.ts';
import { preflightHeaders } from './headers.ts';

const prefix = '/v1';

/** Knows which methods each path takes. It answers OPTIONS, and says what is wrong with requests that no route takes. */
export class Paths {
  readonly #documents: Set<string>;
  readonly #methodsByPattern: [RegExp, string[]][];

  /** `documents` are paths from the root that can only be read. */
  constructor(operations: readonly Operation[], documents: readonly string[]) {
    this.#documents = new Set(documents);
    const byPath = Map.groupBy(operations, (operation) => operation.path);
    this.#methodsByPattern = [...byPath].map(([path, group]) => [
      new RegExp(`^${prefix}${path.replace(/{\w+}/g, '[^/]+')}$`),
      [...group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'],
    ]);
  }

  /** Whether a request asks for a document. */
  isDocument(request: FastifyRequest): boolean {
    return this.#documents.has(pathOf(request));
  }

  /** The methods of a path, undefined where it does not exist. */
  #methods(path: string): string[] | undefined {
    if (this.#documents.has(path)) return ['GET', 'HEAD', 'OPTIONS'];
    return this.#methodsByPattern.find(([pattern]) => pattern.test(path))?.[1];
  }

  /** Answers OPTIONS on a path that exists, a browser's preflight too. Throws for everything else. */
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const methods = this.#methods(pathOf(request));
    if (!methods) throw this.#notFound(request);
    const allow = methods.join(', ');
    if (request.method !== 'OPTIONS') {
      throw new ApiError('method_not_allowed', `This path takes ${allow}, not ${request.method}.`, { allow });
    }
    return reply
      .code(204)
      .headers({ ...headersOf(request), allow, ...preflightHeaders(methods) })
      .send();
  }

  #notFound(request: FastifyRequest): ApiError {
    const path = encodedPathOf(request)
      .replace(/\/{2,}/g, '/')
      .replace(/\/$/, '');
    const meant = [path, prefix + path].find((candidate) => this.#methods(decoded(candidate)));
    const hint = meant ? `You may mean ${meant}.` : `What there is stands in ${prefix}/openapi.json.`;
    return new ApiError('not_found', `There is nothing at this path. ${hint}`);
  }
}

/** Whether a request is for the API, whose answers all carry the limits. */
export const isForApi = (request: FastifyRequest) => pathOf(request).startsWith(`${prefix}/`);

/** The path of a request as the router reads it. */
const pathOf = (request: FastifyRequest) => decoded(encodedPathOf(request));

/** Without query and fragment, and without the origin that a client of a proxy sends along. */
const encodedPathOf = ({ url }: FastifyRequest) =>
  url.replace(/[?#].*$/s, '').replace(/^https?:\/\/[^/]*/i, '') || '/';

/** An encoded slash stays encoded, since it separates nothing, and so does a segment that is malformed. */
const decoded = (path: string) => path.split('/').map(decodedSegment).join('/');

function decodedSegment(segment: string): string {
  try {
    return decodeURI(segment);
  } catch {
    return segment;
  }
}
