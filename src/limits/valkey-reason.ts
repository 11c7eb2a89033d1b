import { parseValkeyUrl } from './valkey-url.ts';

const maxReasonLength = 1_000;
/** How much of a secret is enough to know it by where a server has cut what it repeats. */
const beginningLength = 16;

/**
 * Why Valkey failed, in words that may be told. A server repeats in an error what it was sent, AUTH too, so that users and
 * passwords of all addresses are taken out, and nothing of the error but its message is told.
 */
export function reasonOf({ message }: Error, urls: readonly string[]): string {
  const secrets = urls.flatMap(secretsOf).sort((a, b) => b.length - a.length);
  const withoutWhole = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message);
  return secrets.reduce(withoutBeginnings, withoutWhole).slice(0, maxReasonLength);
}

function secretsOf(url: string): string[] {
  const { login, sentinel } = parseValkeyUrl(url);
  const plain = [...Object.values(login), ...Object.values(sentinel?.login ?? {})] as string[];
  return plain.flatMap((secret) => [secret, encodeURIComponent(secret)]);
}

function withoutBeginnings(text: string, secret: string): string {
  if (secret.length <= beginningLength) return text;
  const [before = '', ...after] = text.split(secret.slice(0, beginningLength));
  const rest = secret.slice(beginningLength);
  return [before, ...after.map((part) => part.slice(sameLength(part, rest)))].join('***');
}

/** How many characters two texts begin with alike. */
function sameLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
