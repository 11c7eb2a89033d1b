import { type LookupAddress, NODATA, NOTFOUND } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Config } from '../../foundation/settings/config.ts';

/** The allowed targets of webhooks. */
export interface TargetPolicy {
  /** Whether `localhost` and loopback addresses are allowed, even with `http`. */
  allowLoopback: boolean;
  /** The hosts of this service, as URLs spell them. */
  ownHosts: readonly string[];
  /** The loopback ports of this service, or of a proxy in front of it. */
  ownPorts: readonly number[];
}

/**
 * The policy of a service. It allows loopback only with the demo workspace, and only if no other machine can reach the service. For
 * that, it must listen on loopback, have a base URL on loopback, and trust no proxy.
 */
export function targetPolicy({
  demo,
  host,
  port,
  baseUrl,
  trustProxy,
}: Pick<Config, 'demo' | 'host' | 'port' | 'baseUrl' | 'trustProxy'>): TargetPolicy {
  const base = new URL(baseUrl);
  return {
    allowLoopback: demo && isLoopbackHost(host) && isLoopbackHost(hostOf(base)) && trustProxy === false,
    ownHosts: [base.hostname.replace(/\.$/, '')],
    ownPorts: [port, portOf(base)],
  };
}

export const maxUrlLength = 2_000;

/** Backslashes, spaces and control characters. No URL of a webhook may contain them, nor a `#`. */
const unsafe = '\\\\\\x00-\\x20\\x7f';

/** Matches every URL that `targetProblem` allows. The host is checked there alone. */
export const urlPattern = `^[hH][tT][tT][pP][sS]?://[^/?@#${unsafe}]+(?:[/?][^#${unsafe}]*)?$`;

/** The same with user, password and fragment, which have messages of their own. */
const complete = new RegExp(`^https?://[^/?#${unsafe}][^${unsafe}]*$`, 'i');

/** Names that never resolve to the public Internet (RFC 6761, 6762, 8375, and `internal`, which ICANN reserves for private use). */
const privateNames = /(^|\.)(localhost|local|internal|home\.arpa)$/;
const label = '[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?';
const publicName = new RegExp(`^(?=.{1,253}$)(${label}\\.)+${label}$`);

/** What a URL must be to be allowed, for a message ("must be …"). Undefined if it is allowed. Does not resolve names. */
export function targetProblem(text: string, policy: TargetPolicy): string | undefined {
  if (text.length > maxUrlLength) return `at most ${maxUrlLength} characters long`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // `URL` repairs backslashes, line breaks and a third slash, which other programs read differently. It encodes characters beyond ASCII.
  if (!url || !complete.test(text)) return 'a complete https URL';
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return 'a URL without user and password';
  if (text.includes('#')) return 'a URL without a fragment';
  if (url.port === '0') return 'a URL with a port from 1 to 65535';
  const host = hostOf(url);
  if (isLoopbackHost(host) && policy.allowLoopback)
    return policy.ownPorts.includes(portOf(url)) ? anotherService : undefined;
  if (policy.ownHosts.includes(url.hostname)) return anotherService;
  if (url.protocol !== 'https:') return 'an https URL';
  const isPublic = isIP(host) ? isPublicAddress(host) : publicName.test(host) && !privateNames.test(host);
  return isPublic ? undefined : 'a URL of a host on the public Internet';
}

const anotherService = 'a URL of another service, not of this one';

/** The host of a URL, an IPv6 address without its brackets. */
export const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1');

const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80));

const isLoopbackHost = (host: string) => host === 'localhost' || isLoopbackAddress(host);

/** This address is in a public range, but on Azure it belongs to the host of the virtual machine. */
const azureHost = '168.63.129.16';

/** Global unicast addresses (RFC 4291, section 2.4). */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Whether an IP address belongs to the public Internet. It refuses whole ranges: loopback, private and reserved networks, and tunnels
 * and translators to IPv4 (6to4, Teredo, NAT64, ISATAP, mapped). False for a text that is not a plain IP address.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address);
  if (parsed?.range() !== 'unicast' || address === azureHost) return false;
  return !(parsed instanceof ipaddr.IPv6) || (parsed.match(globalUnicast) && !isIsatap(parsed));
}

/** Whether an IP address is 127.0.0.0/8 or ::1, not mapped. */
const isLoopbackAddress = (address: string) => parseAddress(address)?.range() === 'loopback';

/** `ipaddr.js` alone also reads octal, hexadecimal and short forms, and zones. */
function parseAddress(address: string) {
  return isIP(address) !== 0 && !address.includes('%') ? ipaddr.parse(address) : undefined;
}

/** An interface identifier of ISATAP holds an IPv4 address, in any network (RFC 5214, section 6.1). */
const isIsatap = ({ parts }: ipaddr.IPv6) => ((parts[4] ?? 0) & 0xfcff) === 0 && parts[5] === 0x5efe;

/** Finds the addresses of a name. Its errors have the codes of `node:dns`. */
export interface NameResolver {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
}

/** Queries the name servers of this machine. `lookup` would block a thread of Node.js while a name server is slow. */
export const systemResolver = (): NameResolver => new Resolver({ timeout: 2_000, tries: 2 });

/** An attempt has failed. The message is a sentence for the owner of the webhook. */
export class AttemptError extends Error {}

/** The maximum number of addresses of each family that an attempt tries. */
const maxPerFamily = 2;

/** Resolves the host of a checked URL. Throws AttemptError unless all addresses are public: it shows none: any may be private. */
export async function resolveTarget(host: string, resolver: NameResolver): Promise<LookupAddress[]> {
  if (isIP(host)) return [withFamily(host)];
  if (host === 'localhost') return ['127.0.0.1', '::1'].map(withFamily);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.flat().length === 0) {
    const isKnown = answers.every((answer) => answer.status === 'fulfilled' || hasNone(answer.reason));
    throw new AttemptError(isKnown ? 'The name has no address.' : 'The name cannot be resolved.');
  }
  if (!found.flat().every(isPublicAddress))
    throw new AttemptError('The name resolves to an address that is not allowed: it must be public.');
  return found.flatMap((addresses) => addresses.slice(0, maxPerFamily)).map(withFamily);
}

const hasNone = ({ code }: NodeJS.ErrnoException) => code === NODATA || code === NOTFOUND;

const withFamily = (address: string): LookupAddress => ({ address, family: isIP(address) });
