import ipaddr from 'ipaddr.js';

/**
 * What counts as one caller among those without a key: an IPv4 address, or the /64 of an IPv6 address, since a single
 * customer usually has a whole one. A port, as some proxies add it, is of no matter. Undefined for what is no address.
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
