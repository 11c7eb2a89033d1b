import type { AttemptLink } from './link-attempts.ts';

/** A recorded request in the form for reports, archives, pages and checks. Names of headers are in lower case. */
export interface Recorded {
  /** 1, 2, 3 and so on, in the order in which they were written. */
  number: number;
  requestId: string;
  /** When the service began to handle it: milliseconds since 1970, with microseconds as decimals. */
  atMs: number;
  /** Until the end of the response or of the connection, or until the client disconnected. */
  tookMs: number;
  method: string;
  /** Path and query as sent. */
  target: string;
  /** The operationId, if there is such an operation. */
  operation?: string;
  /** A field that is not known to be harmless has `notKept` as its value. */
  headers: Readonly<Record<string, string>>;
  /** The first bytes of the body as text. Reports do not read it. */
  body?: string;
  /** Numbers in the body that a double may not hold exactly, as written. */
  largeNumbers?: readonly string[];
  /** The names of the properties in the body, if the fault `conflict` affected the request. */
  properties?: readonly string[];
  /** The size of the body. Undefined if it was not read. */
  bodyBytes?: number;
  /** Undefined without a response: the connection was cut, or the client disconnected first. */
  status?: number;
  /** The client closed its side before its response was complete. A client that only half-closes and reads on looks the same. */
  left?: true;
  /** For a stream that the client closed: how long nothing had been sent before. Undefined if the service ended it. */
  silenceMs?: number;
  /** For a stream: the id of the event that was sent incompletely. */
  cutEventId?: string;
  /** The code of an error. */
  code?: string;
  /** The faults that were performed on it, separated by spaces. */
  fault?: string;
  /** From the end of the attempt before. Undefined for the first. */
  gapMs?: number;
  /** The number of the attempt before, if that had ended when this one began. */
  before?: number;
  /** Harmless headers of the response. */
  answer: Readonly<Record<string, string>>;
  /** The id of its connection. */
  connection: string;
  /** Whether it came through a proxy: then connections and how they end are not the client's own. */
  isProxied: boolean;
  /** The lab's page sent it for itself. */
  labPage?: true;
  /** Equal for attempts at the same request: method, target and body. */
  fingerprint: string;
  /** Whether its body, and so its fingerprint, is a guess. */
  isGuessed?: true;
}

/** A recorded request without what follows from the requests before it. */
export type UnlinkedRequest = Omit<Recorded, keyof AttemptLink>;

/** The content of the column `facts`. The rest has its own columns, or follows from other requests. */
export type RecordedFacts = Omit<UnlinkedRequest, 'number' | 'atMs' | 'tookMs' | 'body'>;

/** A request as it is written. */
export interface RecordedRow {
  atUs: number;
  tookUs: number;
  /** When the service admitted it, by the clock of the instance. */
  beganAtMs: number;
  fingerprint: string;
  /** `RecordedFacts` as JSON. */
  facts: string;
  body: string | null;
}

/** Replaces a value that is not stored. */
export const notKept = '(not kept)';

/** The size of a row in characters. */
export const sizeOf = ({ facts, body }: RecordedRow): number => facts.length + (body?.length ?? 0);
