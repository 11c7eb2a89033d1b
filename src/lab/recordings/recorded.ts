import type { AttemptLink } from './link-attempts.ts';

/** A recorded request as readings and checks see it. Names of header fields are in lower case. */
export interface Recorded {
  /** 1, 2, 3 and so on, in the order in which they were written. */
  number: number;
  requestId: string;
  /** When the service began to handle it: milliseconds since 1970, with microseconds as decimals. */
  atMs: number;
  /** Until the end of the answer or of the connection, or until the client disconnected. */
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
  /** The names of the properties in the body, if the fault `conflict` touched the request. */
  properties?: readonly string[];
  /** The size of the body. Undefined if it was not read. */
  bodyBytes?: number;
  /** Undefined if the connection was cut off instead, or the client left before there was an answer. */
  status?: number;
  /** The client closed its side before its answer was complete. A client that only half-closes and reads on looks the same. */
  left?: true;
  /** Of a stream that the client left: how long nothing had been sent before. Undefined if the service ended it. */
  silenceMs?: number;
  /** Of a stream: the id of the event of which only the half was sent. */
  cutEventId?: string;
  /** The code of an error. */
  code?: string;
  /** The faults of a rehearsal that touched it, separated by spaces. */
  fault?: string;
  /** From the end of the attempt before. Undefined for the first. */
  gapMs?: number;
  /** The number of the attempt before, if that had ended when this one began. */
  before?: number;
  /** Harmless header fields of the answer. */
  answer: Readonly<Record<string, string>>;
  /** The id of its connection. */
  connection: string;
  /** Whether a proxy passed it on: then connections and how they end are not the client's own. */
  isProxied: boolean;
  /** Equal for attempts at the same request: method, target and body. */
  fingerprint: string;
  /** Whether its body is a guess, so that it may be another request than its fingerprint says. */
  isGuessed?: true;
}

/** A recorded request without what follows from the requests before it. */
export type UnlinkedRequest = Omit<Recorded, keyof AttemptLink>;

/** What the column `facts` holds. The rest has columns of its own, or follows from other requests. */
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

/** Stands for a value that is not kept. */
export const notKept = '(not kept)';

/** The size of a row in characters. */
export const sizeOf = ({ facts, body }: RecordedRow): number => facts.length + (body?.length ?? 0);
