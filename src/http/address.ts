import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

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
