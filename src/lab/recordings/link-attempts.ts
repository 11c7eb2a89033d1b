import { hash } from 'node:crypto';

/** The properties that link requests as attempts of one call. */
export interface TimedRequest {
  number: number;
  atUs: number;
  tookUs: number;
  fingerprint: string;
}

/** The place of a request among its attempts. */
export interface AttemptLink {
  fingerprint: string;
  /** Whether only its head is known: its body was not read, and no request whose body was read has its `Idempotency-Key`. */
  isGuessed?: true;
  /** From the end of the attempt before; undefined for the first. */
  gapMs?: number;
  /** The number of the attempt before, if that had ended when this one began. */
  before?: number;
}

/** A client may get the end of a response, and send its next request, this long before the service records the end. */
export const endToleranceUs = 2_000;

/** Head, body (empty if it was not read), and `thing`, which identifies attempts with an `Idempotency-Key`. Readers omit it. */
export const fingerprintOf = (head: string, body = '', thing = '') => `${head}.${body}.${thing}`;

/** A short hash of a JSON value. Two forms of one time have the same hash, and so have null and an absent value. */
export function hashOfValue(value: unknown): string {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  const text = JSON.stringify(isTime ? Date.parse(value) : (value ?? null));
  return hash('sha256', text, 'base64url').slice(0, 8);
}

/** The part of a fingerprint that is known without the body. */
export const headOf = (fingerprint: string) => fingerprint.slice(0, fingerprint.indexOf('.'));
/** The part that needs the body, with the dot before it. */
export const bodyOf = (fingerprint: string) => fingerprint.slice(fingerprint.indexOf('.'));

/**
 * Links requests, given oldest first, to their previous attempts, whatever the outcomes were. A request whose body was not read gets the
 * body of a request with the same `Idempotency-Key`. Without such a request the body is a guess: that of the next request with the same
 * head, or else of the previous one. A request with a guessed body is never linked to a request with another `Idempotency-Key`.
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

/** The attempt that ended last. If several ended at the same time, the last of them. */
const lastOf = (attempts: readonly (TimedRequest | undefined)[]) =>
  attempts.reduce((last, one) => (one && (!last || endOf(one) >= endOf(last)) ? one : last), undefined);

const endOf = ({ atUs, tookUs }: TimedRequest) => atUs + tookUs;

type Texts = readonly (string | undefined)[];

/** Fills each missing body with the body of the next request of the same group, or else of the previous one. */
const fillBodies = (bodies: Texts, groups: Texts): Texts =>
  fillForward(fillForward(bodies.toReversed(), groups.toReversed()).toReversed(), groups);

/** Fills each missing body with the body of the last request before it of the same group. */
function fillForward(bodies: Texts, groups: Texts): (string | undefined)[] {
  const known = new Map<string, string>();
  return bodies.map((body, index) => {
    const group = groups[index];
    if (!group) return body;
    if (body) known.set(group, body);
    return body || known.get(group);
  });
}
