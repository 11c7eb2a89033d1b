import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { headersOf } from './answer.ts';
import { preflightHeaders } from './headers.ts';

const prefix = '/v1';

/** Knows which methods each path takes. It answers OPTIONS, and says what is wrong with requests that no route takes. */
export class Paths {
  readonly #methodsByPattern: [RegExp, string[]][];

  /** `documents` are paths from the root that can only be read. */
  constructor(operations: readonly Operation[], documents: readonly string[]) {
    const byPath = Map.groupBy(operations, (operation) => operation.path);
    this.#methodsByPattern = [
      ...[...byPath].map(([path, group]): [RegExp, string[]] => [
        new RegExp(`^${prefix}${path.replace(/{\w+}/g, '[^/]+')}$`),
        [...group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'],
      ]),
      ...documents.map((path): [RegExp, string[]] => [new RegExp(`^${path}$`), ['GET', 'HEAD', 'OPTIONS']]),
    ];
  }

  /** The methods of a path, undefined where it does not exist. */
  #methods(path: string): string[] | undefined {
    const decoded = decode(path);
    return this.#methodsByPattern.find(([pattern]) => pattern.test(decoded))?.[1];
  }

  /** Answers OPTIONS on a path that exists, a browser's preflight too. Throws for everything else. */
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const methods = this.#methods(pathOf(request));
    if (request.method !== 'OPTIONS' || !methods) throw this.refusal(request);
    const headers = { ...headersOf(request), allow: methods.join(', '), ...preflightHeaders(methods) };
    return reply.code(204).headers(headers).send();
  }

  /** Why no route takes a request; undefined for OPTIONS on a path that exists. */
  refusal(request: FastifyRequest): ApiError | undefined {
    const path = pathOf(request);
    const methods = this.#methods(path);
    if (!methods) return this.#notFound(path);
    if (request.method === 'OPTIONS') return undefined;
    const allow = methods.join(', ');
    return new ApiError('method_not_allowed', `This path takes ${allow}, not ${request.method}.`, { allow });
  }

  #notFound(path: string): ApiError {
    const meant = [prefix + path, path.replace(/\/+$/, '')].find((candidate) => this.#methods(candidate));
    const hint = meant ? `You may mean ${meant}.` : `What there is stands in ${prefix}/openapi.json.`;
    return new ApiError('not_found', `There is nothing at this path. ${hint}`);
  }
}

/** As the router reads a path: an encoded separator stays part of its segment. */
function decode(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** The path of a request, without its query, and without the origin that a client of a proxy sends along. */
export const pathOf = ({ url }: FastifyRequest) =>
  (url.split('?', 1)[0] as string).replace(/^https?:\/\/[^/]*/i, '');
