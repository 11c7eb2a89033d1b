import type { AttemptLink } from './link-attempts.ts';
import type { RecordedRequest } from './schema.ts';

/** A recorded request before it is shown: with its time as a number, and with facts for checks. */
export interface Recorded extends Omit<RecordedRequest, 'at' | 'offsetMs' | 'retryOf'> {
  /** When the service began to handle it: milliseconds since 1970, with microseconds as decimals. */
  atMs: number;
  /** The number of the attempt before, if that had ended when this one began. */
  before?: number;
  /** Whether its body, and so its fingerprint, is a guess. */
  isGuessed?: true;
  /** Numbers in the body that a double may not hold exactly, as written. */
  largeNumbers?: readonly string[];
  /** The hash of each property in the body of a PUT or PATCH: a report reads no bodies. */
  values?: Readonly<Record<string, string>>;
}

/** A recorded request without what follows from the requests before it. */
export type UnlinkedRequest = Omit<Recorded, keyof AttemptLink>;

/** The content of the column `facts`. The rest has its own columns, or follows from other requests. */
export interface StoredFacts
  extends Omit<UnlinkedRequest, 'id' | 'atMs' | 'durationMs' | 'body' | 'answerHeaders' | 'proxied'> {
  answer: Recorded['answerHeaders'];
  isProxied: boolean;
}

export interface RecordedRow {
  atUs: number;
  tookUs: number;
  /** When the service admitted it, by the clock of the instance. */
  beganAtMs: number;
  fingerprint: string;
  /** `StoredFacts` as JSON. */
  facts: string;
  body: string | null;
}

/** The order of time. */
export const byTime = (a: UnlinkedRequest, b: UnlinkedRequest) =>
  a.atMs - b.atMs || Number(a.id) - Number(b.id);

/** Replaces a value that is not stored. */
export const notKept = '(not kept)';

/** The size of a row in characters. */
export const sizeOf = ({ facts, body }: RecordedRow): number => facts.length + (body?.length ?? 0);
