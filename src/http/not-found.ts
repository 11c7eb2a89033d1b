import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { preflightHeaders } from './cors.ts';

const prefix = '/v1';

/** Knows which methods a path takes, for answers to requests that no route takes. */
export class Paths {
  readonly #methodsByPattern: [RegExp, string[]][];

  constructor(operations: readonly Operation[]) {
    const byPath = Map.groupBy(operations, (operation) => operation.path);
    this.#methodsByPattern = [...byPath].map(([path, group]) => [
      new RegExp(`^${prefix}${path.replace(/{\w+}/g, '[^/]+')}$`),
      [...new Set(group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))), 'OPTIONS'],
    ]);
  }

  /** The methods of a path, undefined where it does not exist. */
  #methods(path: string): string[] | undefined {
    return this.#methodsByPattern.find(([pattern]) => pattern.test(path))?.[1];
  }

  /** Answers OPTIONS, a browser's preflight too; throws for every other method. */
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const methods = this.#methods(pathOf(request));
    if (request.method !== 'OPTIONS' || !methods) throw this.refusal(request);
    return reply.code(204).header('allow', methods.join(', ')).headers(preflightHeaders(methods)).send();
  }

  /** Says that the path does not exist, or not with this method, and what does. */
  refusal(request: FastifyRequest): ApiError {
    const path = pathOf(request);
    const methods = this.#methods(path);
    if (methods) {
      const allow = methods.join(', ');
      return new ApiError('method_not_allowed', `This path takes ${allow}, not ${request.method}.`, {
        allow,
      });
    }
    const meant = [prefix + path, path.replace(/\/+$/, '')].find((candidate) => this.#methods(candidate));
    return new ApiError(
      'not_found',
      meant
        ? `There is nothing at this path. You may mean ${meant}.`
        : `There is nothing at this path. What there is stands in ${prefix}/openapi.json.`,
    );
  }
}

const pathOf = (request: FastifyRequest) => request.url.split('?', 1)[0] as string;
