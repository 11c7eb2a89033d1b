import type { FastifyInstance } from 'fastify';
import { presentedKey } from '../access/keys/identify.ts';
import { createLab, createPetstore, type Requests } from '../client/index.ts';
import { fieldLines, proxyFields } from '../http/headers.ts';
import { type Exchange, injectFetch } from '../http/inject-fetch.ts';
import { prefix } from '../http/target.ts';
import { ownTraceparentOf } from '../http/trace-context.ts';
import { originOf } from '../lab/faults/shared/redirect.ts';
import { maxDelayMs } from '../lab/lab-bounds.ts';
import type { Tool } from './tools.ts';

/** Sends requests of a caller below the path of an API. */
export type ClientOf = (start: Tool['start']) => Requests;

/** Clients that send requests for a caller, without a connection. `baseUrl`: the address of the API for callers. */
export const clientsFor =
  (app: FastifyInstance, baseUrl: string, clock: () => number, caller: Exchange): ClientOf =>
  (start) => {
    const { request } = caller;
    const inject = injectFetch(app, caller);
    const fields = ['host', 'user-agent', ...proxyFields].flatMap((name) =>
      fieldLines(request.raw, name).map((value): [string, string] => [name, value]),
    );
    const traceparent = ownTraceparentOf(request);
    const options = {
      // The client follows redirects within its origin only, and a rehearsed one may name the origin of the caller.
      baseUrl: (originOf(request, { baseUrl }) ?? 'http://localhost') + prefix,
      apiKey: presentedKey(request.headers.authorization, request.headers['x-api-key'] as string | undefined),
      // The agent decides about retries and timeouts.
      attempts: 1,
      ...{ attemptTimeoutMs: 2 * maxDelayMs, timeoutMs: 2 * maxDelayMs },
      clock: { now: clock },
      fetch: ((url, { headers, ...init } = {}) => {
        const all = new Headers(headers);
        for (const [name, value] of fields) all.append(name, value);
        all.set('x-request-id', request.id);
        if (traceparent) all.set('traceparent', traceparent);
        return inject(url, { ...init, headers: all });
      }) as typeof fetch,
    };
    return start === prefix ? createPetstore(options) : createLab(options);
  };
