import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Terms } from './decision.ts';
import type { Subject } from './limiter.ts';
import { plans } from '../../foundation/settings/plans.ts';

/** Addresses are limited by the Free numbers and never banned. */
export const byAddress: Terms = { quota: plans.free };

/** The account that pays for a request without a valid key. */
export const addressOf = ({ ip, socket }: FastifyRequest) =>
  subjectOf(addressGroup(ip) ?? addressGroup(socket.remoteAddress));

export const subjectOf = (address = 'unknown'): Subject => ({ workspaceId: 0, id: address });

/**
 * The unit that counts as one caller without a key: an IPv4 address, or the /64 network of an IPv6 address, because one customer
 * usually has a whole one. Ignores a port, which some proxies add. Undefined if the text is no address.
 */
export function addressGroup(address: string | undefined): string | undefined {
  const [, bracketed, bare = address] = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/.exec(address ?? '') ?? [];
  const text = bracketed ?? bare;
  if (text === undefined || !ipaddr.isValid(text)) return undefined;
  const parsed = ipaddr.process(text);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
