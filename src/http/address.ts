import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { cameOverConnection } from './connections.ts';

export const unknownGroup = 'unknown';

/** The address group of a request, behind trusted proxies too. */
export const addressGroupOf = ({ ip, socket }: FastifyRequest): string =>
  addressGroup(ip) ?? addressGroup(socket.remoteAddress) ?? unknownGroup;

/** The unit that counts as one caller without a key: an IPv4 address, or a /64 network, because one customer usually has a whole one. */
export function addressGroup(address: string | undefined): string | undefined {
  const [, bracketed, bare = address] = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/.exec(address ?? '') ?? [];
  const text = bracketed ?? bare;
  if (text === undefined || !ipaddr.isValid(text)) return undefined;
  const parsed = ipaddr.process(text);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** The /48 network around an address group of IPv6: one customer can have so much. Undefined for IPv4. */
export function widerGroupOf(group: string): string | undefined {
  const start = /^((?:\w+:){3})\w+::\/64$/.exec(group)?.[1];
  return start && `${start}:/48`;
}

/** The origin that the client used: the base URL or a name of the loopback address, since `Host` could name any other. */
export function originOf(request: FastifyRequest, baseUrl: string): string | undefined {
  const { host } = request.headers;
  const base = new URL(baseUrl);
  if (host === base.host) return base.origin;
  return loopbackOrigins(request).find((origin) => origin === `http://${host}`);
}

/**
 * Whether a web page of another origin sent a request. The origin of a page is known by the base URL, or by an address or a name of
 * the local network in `Host`: another name could lead here from anywhere.
 */
export function isCrossOrigin({ headers }: FastifyRequest, baseUrl: string): boolean {
  const { origin, host = '' } = headers;
  if (origin === undefined || origin === new URL(baseUrl).origin) return false;
  const own = URL.canParse(origin) ? new URL(origin) : undefined;
  const isAddress =
    /(^localhost|\.local)$/.test(own?.hostname ?? '') ||
    isIP(own?.hostname.replace(/^\[|\]$/g, '') ?? '') !== 0;
  return !isAddress || own?.host !== host;
}

/** `localhost` for a client that is connected directly to `127.0.0.1`, and vice versa; undefined for any other client. */
export function otherOriginOf(request: FastifyRequest): string | undefined {
  const origins = loopbackOrigins(request);
  const own = origins.indexOf(`http://${request.headers.host}`);
  return own === -1 ? undefined : origins[1 - own];
}

function loopbackOrigins({ raw }: FastifyRequest): string[] {
  const { localAddress = '', localPort } = raw.socket;
  if (!cameOverConnection(raw) || !/^(?:::ffff:)?127\.0\.0\.1$/.test(localAddress)) return [];
  return ['localhost', '127.0.0.1'].map((host) => `http://${host}:${localPort}`);
}
