import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import inject, { type DispatchFunc } from 'light-my-request';

export type App = Pick<FastifyInstance, 'ready' | 'routing'>;

/** A request that is in progress. */
export interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** `fetch` for the app of this process. For a caller it uses the caller's connection, with its address and its end. */
export const injectFetch =
  (app: App, caller?: Exchange): typeof fetch =>
  async (input, { method = 'GET', headers, body } = {}) => {
    const { pathname, search } = new URL(String(input));
    const dispatch: DispatchFunc = (request, response) => {
      if (caller) {
        Object.assign(request, { socket: caller.request.raw.socket });
        caller.reply.raw.once('close', () => response.destroy());
      }
      app.routing(request, response);
    };
    await app.ready();
    const answer = await inject(dispatch, {
      method: method as 'GET',
      url: pathname + search,
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { payload: body }),
    });
    const { statusCode: status, rawPayload } = answer;
    // Node.js writes the real time, which may not be that of the app.
    const { date: _, ...shown } = answer.headers;
    const fields = Object.entries(shown).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, String(value)]),
    );
    return new Response(rawPayload.length > 0 ? rawPayload : null, { status, headers: fields });
  };
