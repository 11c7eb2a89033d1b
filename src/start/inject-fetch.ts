import type { FastifyInstance } from 'fastify';

export type App = Pick<FastifyInstance, 'inject'>;

/** `fetch` for the app of this process: `inject` answers without a connection. `method`, `headers` and a text as `body` are used. */
export const injectFetch =
  (app: App): typeof fetch =>
  async (input, { method = 'GET', headers, body } = {}) => {
    const { pathname, search } = new URL(String(input));
    const answer = await app.inject({
      method: method as 'GET',
      url: pathname + search,
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { payload: body }),
    });
    const { statusCode: status, rawPayload } = answer;
    const fields = Object.entries(answer.headers).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, String(value)]),
    );
    return new Response(rawPayload.length > 0 ? rawPayload : null, { status, headers: fields });
  };
