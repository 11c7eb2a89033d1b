import type { FastifyReply, FastifyRequest } from 'fastify';
import { cameOverConnection } from '../../../http/connections.ts';
import { prefix } from '../../../http/target.ts';
import { headersOf } from '../../../http/write-response.ts';
import { type FaultServices, integer } from './fault.ts';

/** The parameter for the status of a redirect. */
export const redirectStatus = integer(
  { minimum: 307, maximum: 308, default: 307 },
  'The status: 307 (temporary) or 308 (permanent). Both keep method and body.',
);

/** For `canTouch`: no request is redirected twice. */
export const isUnmoved = ({ raw: { alias, url } }: FastifyRequest) =>
  alias === undefined && url?.startsWith(`${prefix}/`) === true;

export function redirect(reply: FastifyReply, status: number, Location: string): void {
  reply
    .code(status)
    .headers({ ...headersOf(reply.request), Location })
    .send();
}

/** The origin that the client used: the base URL or a name of the loopback address, since `Host` could name any other. */
export function originOf(
  request: FastifyRequest,
  { baseUrl }: Pick<FaultServices, 'baseUrl'>,
): string | undefined {
  const { host } = request.headers;
  const base = new URL(baseUrl);
  if (host === base.host) return base.origin;
  return loopbackOrigins(request).find((origin) => origin === `http://${host}`);
}

/** `localhost` for a client that is connected directly to `127.0.0.1`, and vice versa; undefined for any other client. */
export function otherOriginOf(request: FastifyRequest, services: FaultServices): string | undefined {
  if (services.isPassedOn(request)) return undefined;
  const origins = loopbackOrigins(request);
  const own = origins.indexOf(`http://${request.headers.host}`);
  return own === -1 ? undefined : origins[1 - own];
}

function loopbackOrigins({ raw }: FastifyRequest): string[] {
  const { localAddress = '', localPort } = raw.socket;
  if (!cameOverConnection(raw) || !/^(?:::ffff:)?127\.0\.0\.1$/.test(localAddress)) return [];
  return ['localhost', '127.0.0.1'].map((host) => `http://${host}:${localPort}`);
}
