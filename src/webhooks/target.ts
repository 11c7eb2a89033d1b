import { isIP } from 'node:net';
import type { Config } from '../config.ts';
import { isLoopbackAddress, isPublicAddress } from './addresses.ts';

/** Where webhooks may be sent. */
export interface TargetPolicy {
  /** Whether `localhost` and loopback addresses may be called, also by `http`. */
  allowLoopback: boolean;
  /** Hosts by which this service is called, as URLs spell them. */
  ownHosts: readonly string[];
  /** Ports of loopback on which this service, or a proxy in front of it, is called. */
  ownPorts: readonly number[];
}

/**
 * Loopback may be called only in the demonstration, and only while nobody else can reach the service: it listens on loopback,
 * is called there, and expects no proxy.
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

/** Names that never lead to the public Internet (RFC 6761, 6762, 8375, and `internal`, which ICANN keeps for private use). */
const privateNames = /(^|\.)(localhost|local|internal|home\.arpa)$/;
const label = '[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?';
const publicName = new RegExp(`^(?=.{1,253}$)(${label}\\.)+${label}$`);

/** What a URL must be to be called as a webhook, for a message ("must be …"). Undefined: it is. Names are not resolved here. */
export function targetProblem(text: string, policy: TargetPolicy): string | undefined {
  if (text.length > maxUrlLength) return `at most ${maxUrlLength} characters long`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // URL repairs much that other programs read differently, such as backslashes, line breaks and a third slash.
  if (!url || !/^https?:\/\/[^/?#\\\s\p{Cc}][^\\\s\p{Cc}]*$/iu.test(text)) return 'a complete https URL';
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return 'a URL without user and password';
  if (text.includes('#')) return 'a URL without a fragment';
  if (url.port === '0') return 'a URL with a port from 1 to 65535';
  const host = hostOf(url);
  if (isLoopbackHost(host) && policy.allowLoopback) {
    return policy.ownPorts.includes(portOf(url)) ? anotherService : undefined;
  }
  if (policy.ownHosts.includes(url.hostname)) return anotherService;
  if (url.protocol !== 'https:') return 'an https URL';
  const isPublic = isIP(host) ? isPublicAddress(host) : publicName.test(host) && !privateNames.test(host);
  return isPublic ? undefined : 'a URL of a host on the public Internet';
}

const anotherService = 'a URL of another service than this one';

/** The host of a URL, an IPv6 address without its brackets. */
export const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1');

const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80));

const isLoopbackHost = (host: string) => host === 'localhost' || isLoopbackAddress(host);
