import ipaddr from 'ipaddr.js';

/**
 * What counts as one caller among those without a key: an IPv4 address, or the /64 of an IPv6 address, since a single
 * customer usually has a whole one.
 */
export function addressGroup(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
