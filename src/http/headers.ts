import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { exposedNames, type Fields } from '../foundation/field-names.ts';

/** Any web page may read a response of the API: a key identifies the caller, never a cookie. */
const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': exposedNames.join(', '),
} satisfies Fields;

/** Headers of responses outside the API. Web pages of other origins may not read these responses. */
export const outsideHeaders = {
  'Cache-Control': 'private, no-cache',
  'X-Content-Type-Options': 'nosniff',
} satisfies Fields;

/** Headers of responses of the API. A response is for one key only, so a cache must ask again before it uses one. */
export const commonHeaders = { ...corsHeaders, ...outsideHeaders };

const preflightMaxAgeSeconds = 86_400;

/** The response to a preflight: the methods and headers that a browser may send (Fetch standard, section 3.2.3). */
export const preflightHeaders = (methods: readonly string[]): Fields => ({
  'Access-Control-Allow-Methods': methods.join(', '),
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Traceparent, X-API-Key, X-Request-Id',
  'Access-Control-Max-Age': String(preflightMaxAgeSeconds),
  Vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
});

/** Whether this is a preflight request of a browser, which carries no key. */
export const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;

/** The values of all field lines with a name (in lower case). `headers` of Node.js joins them, or drops all but the first. */
export function fieldLines({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i] as string;
    if (field.length === name.length && field.toLowerCase() === name)
      values.push(rawHeaders[i + 1] as string);
  }
  return values;
}

/** Fields that proxies add. */
export const proxyFields = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/** Whether a proxy header shows that a proxy forwarded the request. */
export const isPassedOn = ({ headers }: Pick<IncomingMessage, 'headers'>) =>
  proxyFields.some((name) => headers[name] !== undefined);

/** Whether a request has content, or may have some (RFC 9112, section 6.3). */
export const hasContent = ({ headers }: FastifyRequest) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Whether a proxy may see the end of a request elsewhere, by its Transfer-Encoding (RFC 9112, sections 6.1 and 6.3). */
export const isMisframed = ({ headers, httpVersion }: IncomingMessage) => {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0');
};

export const maxRequestIdLength = 128;
/** What an X-Request-Id must be to be kept. */
const requestIdForm = new RegExp(`^[!-~]{1,${maxRequestIdLength}}$`);

/** The caller's X-Request-Id if it is 1 to 128 visible ASCII characters, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && requestIdForm.test(own) ? own : randomUUID();
}
