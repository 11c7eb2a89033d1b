/** What is needed of a request to tell which attempts were at the same thing. Times are microseconds. */
export interface Attempt {
  number: number;
  atUs: number;
  tookUs: number;
  fingerprint: string;
}

/** What a request is among the attempts at the same thing. */
export interface Linked {
  fingerprint: string;
  /** Whether nothing but its head tells what it was: its body was not read, and its `Idempotency-Key` came with none that was. */
  isGuessed?: true;
  /** From the end of the attempt before; undefined for the first. */
  gapMs?: number;
}

/**
 * A fingerprint as it is kept has three parts: that of the head, that of the body, which is empty for a request that was refused before
 * its body was read, and that of the `Idempotency-Key`, which says what such a request was and is left out of what readers see.
 */
export const fingerprintOf = (head: string, body = '', key = '') => `${head}.${body}.${key}`;

/** What is known of a request even if its body was not read. */
export const headOf = (fingerprint: string) => fingerprint.slice(0, fingerprint.indexOf('.'));

/**
 * Links requests, given in the order of time, to the attempts before them. One whose body was not read is an attempt at what has the same
 * `Idempotency-Key`. Without that it counts as one at what came next with the same head, or else at what came before, which is a guess. What
 * came of an attempt does not matter here; which of them are retries of failures, the checks of reports tell
 * (`report/checks/retry-pairs.ts`).
 */
export function link(attempts: readonly Attempt[]): Map<number, Linked> {
  const parts = attempts.map(({ fingerprint }) => fingerprint.split('.'));
  const keyed = completed(
    parts.map(([, body]) => body),
    parts.map(([head, , key]) => key && `${head} ${key}`),
  );
  const bodies = completed(
    keyed,
    parts.map(([head]) => head),
  );
  const ends = new Map<string, number>();
  return new Map(
    attempts.map(({ number, atUs, tookUs }, index) => {
      const fingerprint = `${parts[index]?.[0]}.${bodies[index] ?? ''}`;
      const endUs = ends.get(fingerprint);
      ends.set(fingerprint, Math.max(endUs ?? 0, atUs + tookUs));
      return [
        number,
        {
          fingerprint,
          ...(!keyed[index] && { isGuessed: true as const }),
          ...(endUs !== undefined && { gapMs: Math.max(0, atUs - endUs) / 1_000 }),
        },
      ];
    }),
  );
}

type Parts = readonly (string | undefined)[];

/** Gives what has no body that of the next one in its place, or else of the one before. What has no place stays as it is. */
const completed = (bodies: Parts, places: Parts): Parts =>
  carried(carried(bodies.toReversed(), places.toReversed()).toReversed(), places);

/** Carries bodies on to those in the same place that have none. */
function carried(bodies: Parts, places: Parts): (string | undefined)[] {
  const known = new Map<string, string>();
  return bodies.map((body, index) => {
    const place = places[index];
    if (!place) return body;
    if (body) known.set(place, body);
    return body || known.get(place);
  });
}
