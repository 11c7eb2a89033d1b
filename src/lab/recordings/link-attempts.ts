/** What links a request to others. */
export interface TimedRequest {
  number: number;
  atUs: number;
  tookUs: number;
  fingerprint: string;
}

/** What a request is among the attempts at the same request. */
export interface AttemptLink {
  fingerprint: string;
  /** Whether only its head is known: its body was not read, and no request whose body was read has its `Idempotency-Key`. */
  isGuessed?: true;
  /** From the end of the attempt before; undefined for the first. */
  gapMs?: number;
  /** The number of the attempt before, if that had ended when this one began. */
  before?: number;
}

/** A client may have the whole answer, and send its next request, so long before the service notes the end. */
const endToleranceUs = 2_000;

/**
 * A fingerprint as it is kept has three parts: the head, the body, and `thing`, by which all attempts with an `Idempotency-Key` are known.
 * The body is empty for a request that was refused before its body was read. Readings leave the last part out.
 */
export const fingerprintOf = (head: string, body = '', thing = '') => `${head}.${body}.${thing}`;

/** The part of a fingerprint that is known without the body. */
export const headOf = (fingerprint: string) => fingerprint.slice(0, fingerprint.indexOf('.'));
/** The part that is known only of the body, with the dot before it. */
export const bodyOf = (fingerprint: string) => fingerprint.slice(fingerprint.indexOf('.'));

/**
 * Links requests, given in the order of time, to the attempts before them, whatever the outcomes were. A request whose body was not read
 * gets the body of a request with the same `Idempotency-Key`. Without one it gets the body of the next request with the same head, or
 * else of the one before, which is a guess. A guess is no attempt at what came with another key.
 */
export function linkAttempts(attempts: readonly TimedRequest[]): Map<number, AttemptLink> {
  const parts = attempts.map(({ fingerprint }) => fingerprint.split('.'));
  const keyed = fillBodies(
    parts.map(([, body]) => body),
    parts.map(([head, , thing]) => thing && `${head} ${thing}`),
  );
  const bodies = fillBodies(
    keyed,
    parts.map(([head]) => head),
  );
  const lastToEnd = new Map<string, TimedRequest>();
  return new Map(
    attempts.map((attempt, index) => {
      const { number, atUs } = attempt;
      const [head, , thing = ''] = parts[index] as string[];
      const fingerprint = `${head}.${bodies[index] ?? ''}`;
      const isGuessed = !keyed[index];
      const names = [`${fingerprint} ${thing}`, ...(isGuessed ? [] : [fingerprint])];
      const before = lastToEnd.get(thing) ?? lastOf(names.map((name) => lastToEnd.get(name)));
      for (const name of thing ? [thing, ...names] : names)
        lastToEnd.set(name, lastOf([lastToEnd.get(name), attempt]) as TimedRequest);
      return [
        number,
        {
          fingerprint,
          ...(isGuessed && { isGuessed: true as const }),
          ...(before && { gapMs: Math.max(0, atUs - endOf(before)) / 1_000 }),
          ...(before && endOf(before) <= atUs + endToleranceUs && { before: before.number }),
        },
      ];
    }),
  );
}

/** The attempt that ended last; of several, the last of them. */
const lastOf = (attempts: readonly (TimedRequest | undefined)[]) =>
  attempts.reduce((last, one) => (one && (!last || endOf(one) >= endOf(last)) ? one : last), undefined);

const endOf = ({ atUs, tookUs }: TimedRequest) => atUs + tookUs;

type Texts = readonly (string | undefined)[];

/** Gives each missing body that of the next request with the same group, or else of the one before. */
const fillBodies = (bodies: Texts, groups: Texts): Texts =>
  fillForward(fillForward(bodies.toReversed(), groups.toReversed()).toReversed(), groups);

/** Gives each missing body that of the last request before it with the same group. */
function fillForward(bodies: Texts, groups: Texts): (string | undefined)[] {
  const known = new Map<string, string>();
  return bodies.map((body, index) => {
    const group = groups[index];
    if (!group) return body;
    if (body) known.set(group, body);
    return body || known.get(group);
  });
}
