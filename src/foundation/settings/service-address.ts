import { createHmac, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type AddressInfo, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { inDataDir, readOwnFile, replaceFile } from './data-dir.ts';

/** The address of the service of a data folder, and a secret that only the service and commands of the same user know. */
interface ServiceAddress {
  /** The local address of the API. It ends in `/v1`. */
  url: string;
  secret: string;
}

const fileIn = (dataDir: string) => join(dataDir, 'service.address');
/** The header field with a challenge to `/healthz`. */
export const challengeField = 'petstore-challenge';

const challengePattern = /^[0-9a-f]{32}$/;

export const newChallenge = () => randomBytes(16).toString('hex');

/** The response of the service to a challenge. Another program on the same port cannot know it. */
const proofOf = (secret: string, challenge: string) =>
  createHmac('sha256', secret).update(`petstore service ${challenge}`).digest('hex');

/** Lets commands of the same user find the service of a data folder. */
export class Announcement {
  readonly #secret = randomBytes(32).toString('hex');
  readonly #dataDir: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Proves to a command that this is the service of the folder. Undefined if `challenge` is not valid. */
  prove(challenge: unknown): string | undefined {
    const isOne = typeof challenge === 'string' && challengePattern.test(challenge);
    return isOne ? proofOf(this.#secret, challenge) : undefined;
  }

  /** Writes the address of the service. If instances share a folder, commands find the one that started last. */
  announce(address: AddressInfo): void {
    const shared: ServiceAddress = { url: localUrl(address), secret: this.#secret };
    inDataDir(this.#dataDir, () => replaceFile(fileIn(this.#dataDir), `${JSON.stringify(shared)}\n`));
  }

  /** Removes the address, if this service wrote it. */
  withdraw(): void {
    if (readServiceAddress(this.#dataDir)?.secret === this.#secret)
      rmSync(fileIn(this.#dataDir), { force: true });
  }
}

/** The local URL of a service. Not on localhost, which may resolve to an IPv6 address where another program listens. */
export function localUrl({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  const local = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address] ?? address;
  return `http://${isIPv6(local) ? `[${local}]` : local}:${port}/v1`;
}

/** The address that the last service of a folder wrote. It may be outdated. Undefined if this user wrote none. */
export function readServiceAddress(dataDir: string): ServiceAddress | undefined {
  try {
    const { url, secret } = JSON.parse(readOwnFile(fileIn(dataDir)) ?? '{}');
    const isWhole = typeof secret === 'string' && secret.length > 0 && URL.canParse(url);
    return isWhole ? { url, secret } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a response to a challenge comes from the service of an address. */
export const isProof = ({ secret }: ServiceAddress, challenge: string, answer: unknown) =>
  proofOf(secret, challenge) === answer;
