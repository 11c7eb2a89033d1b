import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isPreflight } from '../http/headers.ts';
import type { Handled } from '../http/operation.ts';
import type { Paths } from '../http/paths.ts';
import { requestPath } from '../http/target.ts';
import { type Admission, admit, countMalformed } from './admission.ts';
import { type ApiServices, mount } from './mount.ts';

interface Api {
  /** The beginning of its paths. */
  start: string;
  operations: readonly Handled[];
  /** Where callers find it, without a slash at the end. */
  baseUrl: string;
  admission: Admission;
  /** Runs on an admitted request. Resolves to whether it continues. Undefined: it continues. */
  intercept?(request: FastifyRequest, reply: FastifyReply): Promise<boolean> | undefined;
  services: Omit<ApiServices, 'operations' | 'baseUrl' | 'kept'>;
  kept: ApiServices['kept'];
  paths: Paths;
  respondUnrouted(request: FastifyRequest, reply: FastifyReply): FastifyReply;
}

/** Serves operations below `start`: a request is admitted, may be intercepted, and goes to its operation. */
export function serveApi(app: FastifyInstance, api: Api): void {
  const { start, operations, baseUrl, admission, intercept, services, kept, paths, respondUnrouted } = api;
  const publicPaths = operations.filter((operation) => operation.isPublic).map(({ path }) => start + path);
  const isPublic = (request: FastifyRequest) =>
    request.operation?.isPublic ?? (request.is404 && publicPaths.includes(requestPath(request)));
  app.register(
    async (scope) => {
      scope.addHook('onRequest', (request, reply, done) => {
        if (isPreflight(request) || (request.is404 && paths.isDocument(request))) {
          paths.answer(request, reply);
          return;
        }
        const goOn = () => {
          paths.assertTarget(request);
          const intercepting = intercept?.(request, reply);
          if (intercepting) intercepting.then((goesOn) => goesOn && done(), done);
          // The body is not used, whatever it is.
          else if (request.is404) respondUnrouted(request, reply);
          else done();
        };
        const admitting = isPublic(request) ? undefined : admit(admission, request);
        if (admitting) admitting.then(goOn).catch(done);
        else goOn();
      });
      if (publicPaths.length > 0)
        scope.setErrorHandler(async (error, request) => {
          if (request.operation?.isPublic) await countMalformed(admission, request, error);
          throw error;
        });
      for (const operation of operations) mount(scope, operation, { ...services, operations, baseUrl, kept });
      scope.setNotFoundHandler(respondUnrouted);
    },
    { prefix: start },
  );
}
