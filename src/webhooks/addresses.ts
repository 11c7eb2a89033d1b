import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Public by their range, but they reach the host below a machine of Azure, which trusts whoever asks. */
const denied = ['168.63.129.16'];

/** Global unicast (RFC 4291, section 2.4). Whatever else becomes of the rest, it is no receiver today. */
const global: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Whether an IP address is one of the public Internet and leads to nothing else: not to this machine, a private network,
 * a reserved range, nor through a tunnel or a translator (6to4, Teredo, NAT64, ISATAP, mapped) to an IPv4 address. Such
 * ranges are refused whole. False for any text that is not a plain IP address.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed?.range() !== 'unicast' || denied.includes(address)) return false;
  return !(parsed instanceof ipaddr.IPv6) || (parsed.match(global) && !isIsatap(parsed));
}

/** Whether an IP address is 127.0.0.0/8 or ::1, not mapped. */
export const isLoopbackAddress = (address: string) => parse(address)?.range() === 'loopback';

/** `ipaddr.js` alone also reads octal, hexadecimal and short forms, and zones. */
function parse(address: string) {
  return isIP(address) !== 0 && !address.includes('%') ? ipaddr.parse(address) : undefined;
}

/** An interface identifier of ISATAP holds an IPv4 address, in any network (RFC 5214, section 6.1). */
const isIsatap = ({ parts }: ipaddr.IPv6) => ((parts[4] ?? 0) & 0xfcff) === 0 && parts[5] === 0x5efe;
