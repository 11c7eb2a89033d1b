import type { Linked } from './attempts.ts';

/** A request of a recorded client and what came of it, as readers and checks see it. Names of header fields are in lower case. */
export interface Recorded {
  /** 1, 2, 3 and so on, in the order in which they were kept. */
  number: number;
  requestId: string;
  /** When it was handled. Milliseconds since 1970, with microseconds behind the point. */
  atMs: number;
  /** Until the end of the answer, or of the connection, or until the client left. */
  tookMs: number;
  method: string;
  /** Path and query as they were sent. */
  target: string;
  /** The operationId, if there is such an operation. */
  operation?: string;
  /** Of a field that is not known to be harmless, `notKept` instead of the value. */
  headers: Readonly<Record<string, string>>;
  /** The first bytes of the body as text. Reports do not read it. */
  body?: string;
  /** Numbers in the body that a double may not hold exactly, as they are written. */
  largeNumbers?: readonly string[];
  /** The names of the properties in the body, of a change that another writer came before. */
  properties?: readonly string[];
  /** How large the body was. Undefined if it was not read. */
  bodyBytes?: number;
  /** Undefined if the connection was cut off instead, or the client left before there was an answer. */
  status?: number;
  /**
   * The client closed its side before its answer was complete: it has given up. One that only says so that it sends nothing more,
   * and reads on, looks the same.
   */
  left?: true;
  /** The code of an error. */
  code?: string;
  /** The faults of a rehearsal that touched it, separated by spaces. */
  fault?: string;
  /** Between the end of the attempt before and this one. Undefined for the first. */
  gapMs?: number;
  /** Harmless header fields of the answer. */
  answer: Readonly<Record<string, string>>;
  /** Which of its connections carried it. */
  connection: string;
  /** Whether something between client and service passed it on, so that connections and cuts are not the client's own. */
  isProxied: boolean;
  /** Equal for attempts at the same request: method, target and body. */
  fingerprint: string;
  /** Whether its body is a guess, so that it may be another request than its fingerprint says. */
  isGuessed?: true;
}

/** What the facts of its row hold of a recorded request; the rest has columns of its own, or follows from other requests. */
export type RecordedFacts = Omit<Recorded, 'number' | 'atMs' | 'tookMs' | 'body' | keyof Linked>;

/** A request as it is written. */
export interface RecordedRow {
  atUs: number;
  tookUs: number;
  /** When it began, by the clock of the instance. */
  beganAtMs: number;
  fingerprint: string;
  /** `RecordedFacts` as JSON. */
  facts: string;
  body: string | null;
}

/** Stands for a value that is not kept. */
export const notKept = '(not kept)';

/** The characters that a request takes where it is kept. */
export const sizeOf = ({ facts, body }: RecordedRow): number => facts.length + (body?.length ?? 0);
