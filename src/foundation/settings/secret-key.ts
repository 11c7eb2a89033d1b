import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { StorageUnavailableError } from '../errors.ts';
import type { Config } from './config.ts';
import { createOnce, inDataDir, readOwnFile } from './data-dir.ts';
import { ConfigError } from './setting.ts';

/** The prefix of secrets of webhooks (Standard Webhooks 1.0). */
export const secretPrefix = 'whsec_';

const minBytes = 32;
const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** 25 digits of base 36 hold 128 bits. */
const idDigits = 25;

/** The key of an installation. Secrets and ids are derived from it, so instances agree and the storage contains no secret. */
export class InstallationKey {
  /** Identifies the key without revealing it. */
  readonly fingerprint: string;
  /** Marks the requests of the lab's page. Only that page contains it. */
  readonly labPageToken: string;
  readonly #secrets: Buffer;
  readonly #sealing: Buffer;
  readonly #ids: Buffer;

  /** `text` has at least 32 random bytes. Throws RangeError. */
  constructor(text: string) {
    if (Buffer.byteLength(text) < minBytes) throw new RangeError(`A key has at least ${minBytes} bytes.`);
    // One key for each purpose (RFC 5869), so that none reveals another.
    const keyFor = (purpose: string) => Buffer.from(hkdfSync('sha256', text, '', `petstore ${purpose}`, 32));
    this.fingerprint = keyFor('fingerprint').toString('hex', 0, 8);
    this.labPageToken = keyFor('lab page').toString('base64url');
    this.#secrets = keyFor('webhook secrets');
    this.#sealing = keyFor('sealing');
    this.#ids = keyFor('message ids');
  }

  /** A unique salt for a webhook. It contains the fingerprint of this key. */
  newSalt(): string {
    return `${this.fingerprint}.${randomBytes(24).toString('base64url')}`;
  }

  /** Whether a salt belongs to this key. Another key would derive another secret than the receiver has. */
  isFor(salt: string): boolean {
    return salt.startsWith(`${this.fingerprint}.`);
  }

  /** The secret of a webhook: `whsec_` and 32 bytes in Base64. It is derived from the salt, so only the salt is stored. */
  derive(salt: string): string {
    return secretPrefix + createHmac('sha256', this.#secrets).update(salt).digest('base64');
  }

  /** An id for a message that is the same for the same parts: `evt_`, letters and digits. */
  messageId(...parts: (string | number)[]): string {
    const digest = createHmac('sha256', this.#ids)
      .update(JSON.stringify(parts.map(String)))
      .digest('hex');
    return `evt_${BigInt(`0x${digest.slice(0, 32)}`)
      .toString(36)
      .padStart(idDigits, '0')}`;
  }

  /** Encrypts a text. It can be decrypted only with the same `place`. */
  seal(text: string, place: string): string {
    const nonce = randomBytes(nonceBytes);
    const encrypt = createCipheriv(cipher, this.#sealing, nonce, { authTagLength: tagBytes });
    encrypt.setAAD(Buffer.from(place));
    const parts = [nonce, encrypt.update(text, 'utf8'), encrypt.final(), encrypt.getAuthTag()];
    return Buffer.concat(parts).toString('base64');
  }

  /** Decrypts a sealed text. Undefined if it was changed, or sealed with another key or for another place. */
  open(sealed: string, place: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64');
    if (bytes.length < nonceBytes + tagBytes) return undefined;
    const nonce = bytes.subarray(0, nonceBytes);
    const decrypt = createDecipheriv(cipher, this.#sealing, nonce, { authTagLength: tagBytes });
    decrypt.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-tagBytes));
    const text = decrypt.update(bytes.subarray(nonceBytes, -tagBytes));
    try {
      return Buffer.concat([text, decrypt.final()]).toString('utf8');
    } catch {
      return undefined;
    }
  }
}

/** The key of the setting, or the one in the data folder. PostgreSQL needs the setting, because each instance would create its own. */
export function installationKey({
  secretKey,
  databaseUrl,
  dataDir,
}: Pick<Config, 'secretKey' | 'databaseUrl' | 'dataDir'>): InstallationKey {
  if (secretKey !== undefined) return new InstallationKey(secretKey);
  if (databaseUrl !== undefined) {
    throw new ConfigError(
      'PETSTORE_SECRET_KEY must be set if DATABASE_URL is set, to the same text for all instances. "openssl rand -base64 32" creates one.',
    );
  }
  return loadSecretKey(dataDir);
}

/** The key in `secret.key` in the data folder. Creates it if needed. Throws ConfigError that names the folder. */
export function loadSecretKey(dataDir: string): InstallationKey {
  return inDataDir(dataDir, () => {
    const path = join(dataDir, 'secret.key');
    if (readOwnFile(path) === undefined) createOnce(path, `${randomBytes(minBytes).toString('base64url')}\n`);
    const text = readOwnFile(path)?.trim();
    if (text === undefined) throw new StorageUnavailableError('secret.key is not a plain file of this user.');
    // Another key would change the secrets of all webhooks, so a damaged one is not replaced.
    if (Buffer.byteLength(text) < minBytes) throw new StorageUnavailableError('secret.key is damaged.');
    return new InstallationKey(text);
  });
}
