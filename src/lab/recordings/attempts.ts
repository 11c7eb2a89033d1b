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
  /** From the end of the attempt before; undefined for the first. */
  gapMs?: number;
}

/**
 * A fingerprint has two parts: that of the head, and that of the body. A request that was refused before its body was read has no
 * second part.
 */
export const fingerprintOf = (head: string, body: string | undefined) => `${head}.${body ?? ''}`;

/**
 * Links requests, given in the order of time, to the attempts before them. One whose body was not read counts as an attempt at what
 * came next with the same head, or else at what came before. What came of an attempt does not matter here; which of them are retries of
 * failures, the checks of reports tell (`report/checks/retry-pairs.ts`).
 */
export function link(attempts: readonly Attempt[]): Map<number, Linked> {
  const fingerprints = attempts.map(({ fingerprint }) => fingerprint);
  completeFrom(
    fingerprints,
    attempts.map((_, index) => attempts.length - 1 - index),
  );
  completeFrom(fingerprints, [...attempts.keys()]);
  const ends = new Map<string, number>();
  return new Map(
    attempts.map(({ number, atUs, tookUs }, index) => {
      const fingerprint = fingerprints[index] as string;
      const endUs = ends.get(fingerprint);
      ends.set(fingerprint, Math.max(endUs ?? 0, atUs + tookUs));
      const gap = endUs === undefined ? {} : { gapMs: Math.max(0, atUs - endUs) / 1_000 };
      return [number, { fingerprint, ...gap }];
    }),
  );
}

/** Gives fingerprints without a second part that of the last one with the same head, in the order of `indexes`. */
function completeFrom(fingerprints: string[], indexes: readonly number[]): void {
  const known = new Map<string, string>();
  for (const index of indexes) {
    const fingerprint = fingerprints[index] as string;
    const head = fingerprint.slice(0, fingerprint.indexOf('.') + 1);
    if (fingerprint !== head) known.set(head, fingerprint);
    else fingerprints[index] = known.get(head) ?? fingerprint;
  }
}
