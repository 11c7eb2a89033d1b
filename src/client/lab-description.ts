// Made from the description of the lab by "npm run generate" (262a4b8dba32). Do not edit.

import type { Int64 } from './exact-json.ts';

/** A value of a later version of the API: an enumeration of an answer may have new ones. */
type Unknown = string & Record<never, never>;

/** @description A parameter of a fault: an integer, with `minimum`, `maximum` and `default`, or a string, with `values`. */
export type FaultParameter = {
  /** @description Its name. */
  name: string;
  /** @description What it means. */
  description: string;
  /** @description The smallest value of an integer. */
  minimum?: number;
  /** @description The largest value of an integer. */
  maximum?: number;
  /** @description The value of an integer if it is absent. */
  default?: number;
  /** @description The values of a parameter that is a string. The first is the default. */
  values?: string[];
};
/** @description A failure or an unusual response that the service performs on demand. */
export type Fault = {
  /** @description Its name. */
  name: string;
  /** @description The heading under which it is listed. Later versions may have other groups. */
  group: string;
  /** @description A `step` is performed a number of times. A `condition` lasts as long as its rehearsal, and takes no `times` and no `after`. Later versions may have other kinds. */
  kind: string;
  /** @description Whether `operation` can restrict it to one operation. */
  takesOperation: boolean;
  /** @description Its own parameters. */
  parameters: FaultParameter[];
  /** @description The operations that it can affect. */
  operations: string[];
  /** @description Whether a client must (`required`) or should (`recommended`) produce the same result with the fault as without. */
  level: string;
  /** @description What the service does. */
  does: string;
  /** @description What a good client does. */
  goodClient: string;
  /** @description Why it matters: what went wrong in real clients. */
  bites: string;
};
/** @description Faults. */
export type FaultList = Fault[];
/** @description The body of every error. */
export type Error = {
  /** @description Machine-readable error code. Later versions may add codes: handle an unknown one by its status. */
  code: string;
  /** @description Human-readable description of the error. It names the wrong fields, at most ten. */
  message: string;
  /** @description The HTTP status code of the response. */
  status: number;
};
/** @description A fault of a rehearsal, and how often it was performed. */
export type RehearsedFault = {
  /** @description The name of a fault. `GET /faults` lists them. Later versions may add faults. */
  fault: string;
  /** @description The operationId of the only operation that it affects. Later versions may add operations. Absent: every operation that it fits. */
  operation?: string;
  /** @description How many requests of each operation (for `banned`: of the key) pass before the fault. Not for conditions. */
  after?: number;
  /** @description How often it is performed on requests of each operation (for `banned`: of the key). Default: 1. Not for conditions. */
  times?: number;
  /** @description Of `rate-limited`, `rate-limited-date`, `clock-ahead`, `banned`, `unavailable`: The value of `Retry-After`, in seconds. */
  retryAfterSeconds?: number;
  /** @description For a step: how many performances remain, on all its operations together. 0 after the end of the rehearsal. For the condition `near-limit`: its parameter, which does not change. Absent for other conditions. */
  remaining?: number;
  /** @description Of `stall`, `no-answer`: The length of the silence in milliseconds. At most 100 requests of a key wait. One more ends the silence of the oldest: its connection is reset. */
  silenceMs?: number;
  /** @description Of `retry-after-odd`: The value of `Retry-After`. `none`: the header is absent. `zero`: `0`. `past`: a date an hour ago. `malformed`: `soon`, which is neither seconds nor a date. For these four values a good client uses its own backoff. `ten-days` and `thirty-days`: that time in seconds. Then a good client gives up at once and reports it. Thirty days overflow a 32-bit timer in milliseconds. */
  shape?: string;
  /** @description Of `slow`: How many bytes of the body are sent per second. The service sends more if the response would take longer than 30 s. At most 100 requests of a key wait. One more ends the wait of the oldest. */
  bytesPerSecond?: number;
  /** @description Of `delay`: The delay in milliseconds, at most 5000 for a request through a proxy. At most 100 requests of a key wait. One more ends the wait of the oldest. */
  delayMs?: number;
  /** @description Of `moved`, `moved-away`: The status: 307 (temporary) or 308 (permanent). Both keep method and body. */
  status?: number;
  /** @description Of `moved`: Whether `Location` is a path or a URL. It is always a path if the service does not know the host name that the client uses. */
  location?: string;
  /** @description Of `link-odd`: What is unusual. `relations`: there are other links before the one to the next page, and after the last page there are only these. One has a title with commas and quotation marks. `unquoted`: `rel=next`. `two-in-one`: `rel="section next"`. `relative`: a path instead of a URL. */
  linkForm?: string;
  /** @description Of `stream-cut`: Where the stream is cut. `last`: in its first event, or in the last one if it sends several at once. `second`: in its second event. `after-no-id`: there too, after a message without an `id`. */
  cut?: string;
  /** @description Of `stream-pieces`: The form of the lines. `lf`: as usual. `crlf`: lines end with CR and LF. `data-lines`: the JSON of an event has several lines of `data`. */
  lineForm?: string;
  /** @description Of `stream-silent`: How long the stream is silent, in milliseconds. At most 100 requests of a key wait. One more ends the wait of the oldest. */
  streamSilenceMs?: number;
  /** @description How often it was performed. For a condition: how many responses it has changed. */
  performed: number;
  /** @description How many requests came before the end of `Retry-After`, and got the fault again. */
  repeated?: number;
};
/** @description Faults that the service performs for one key. */
export type Rehearsal = {
  /** @description The id of the rehearsal. */
  id: string;
  /**
   * Format: date-time
   * @description When it began.
   */
  createdAt: string;
  /**
   * Format: date-time
   * @description When it expires.
   */
  expiresAt: string;
  /**
   * Format: date-time
   * @description When a request or the next rehearsal ended it.
   */
  endedAt?: string;
  /** @description Its faults, in order. */
  faults: RehearsedFault[];
};
/** @description Rehearsals, newest first; 20 at most. */
export type RehearsalList = Rehearsal[];
/** @description A fault to perform, with its parameters. */
export type PlannedFault = {
  /**
   * @description The name of a fault. `GET /faults` lists them.
   * @enum {string}
   */
  fault:
    | 'rate-limited'
    | 'rate-limited-date'
    | 'clock-ahead'
    | 'near-limit'
    | 'banned'
    | 'unavailable'
    | 'internal-error'
    | 'bad-gateway'
    | 'gateway-timeout'
    | 'stall'
    | 'no-answer'
    | 'retry-after-odd'
    | 'key-in-use'
    | 'unauthorized'
    | 'reset'
    | 'lost-answer'
    | 'truncated'
    | 'slow'
    | 'delay'
    | 'stale-connection'
    | 'conflict'
    | 'small-pages'
    | 'empty-page'
    | 'moved'
    | 'moved-away'
    | 'same-page'
    | 'next-away'
    | 'link-odd'
    | 'stale-read'
    | 'stream-cut'
    | 'stream-pieces'
    | 'stream-silent'
    | 'stream-expired'
    | 'large-ids'
    | 'new-fields'
    | 'new-status'
    | 'sunset';
  /**
   * @description The operationId of the operation that it affects. Absent: every operation that it fits.
   * @enum {string}
   */
  operation?:
    | 'listPets'
    | 'createPet'
    | 'getPet'
    | 'replacePet'
    | 'updatePet'
    | 'deletePet'
    | 'listCategories'
    | 'createCategory'
    | 'getCategory'
    | 'replaceCategory'
    | 'deleteCategory'
    | 'listOrders'
    | 'placeOrder'
    | 'getOrder'
    | 'updateOrder'
    | 'cancelOrder'
    | 'listInventory'
    | 'getInventory'
    | 'updateInventory'
    | 'listEvents'
    | 'getEvent'
    | 'streamEvents'
    | 'listWebhooks'
    | 'createWebhook'
    | 'pingWebhook'
    | 'rotateWebhookSecret'
    | 'listDeliveries'
    | 'redeliver'
    | 'getWebhook'
    | 'updateWebhook'
    | 'deleteWebhook';
  /** @description How many requests of each operation (for `banned`: of the key) pass before the fault. Not for conditions. */
  after?: number;
  /** @description How often it is performed on requests of each operation (for `banned`: of the key). Default: 1. Not for conditions. */
  times?: number;
  /** @description Of `rate-limited`, `rate-limited-date`, `clock-ahead`, `banned`, `unavailable`: The value of `Retry-After`, in seconds. */
  retryAfterSeconds?: number;
  /** @description Of `near-limit`: The number of requests left at the start of each minute. */
  remaining?: number;
  /** @description Of `stall`, `no-answer`: The length of the silence in milliseconds. At most 100 requests of a key wait. One more ends the silence of the oldest: its connection is reset. */
  silenceMs?: number;
  /**
   * @description Of `retry-after-odd`: The value of `Retry-After`. `none`: the header is absent. `zero`: `0`. `past`: a date an hour ago. `malformed`: `soon`, which is neither seconds nor a date. For these four values a good client uses its own backoff. `ten-days` and `thirty-days`: that time in seconds. Then a good client gives up at once and reports it. Thirty days overflow a 32-bit timer in milliseconds.
   * @enum {string}
   */
  shape?: 'none' | 'zero' | 'past' | 'malformed' | 'ten-days' | 'thirty-days';
  /** @description Of `slow`: How many bytes of the body are sent per second. The service sends more if the response would take longer than 30 s. At most 100 requests of a key wait. One more ends the wait of the oldest. */
  bytesPerSecond?: number;
  /** @description Of `delay`: The delay in milliseconds, at most 5000 for a request through a proxy. At most 100 requests of a key wait. One more ends the wait of the oldest. */
  delayMs?: number;
  /** @description Of `moved`, `moved-away`: The status: 307 (temporary) or 308 (permanent). Both keep method and body. */
  status?: number;
  /**
   * @description Of `moved`: Whether `Location` is a path or a URL. It is always a path if the service does not know the host name that the client uses.
   * @enum {string}
   */
  location?: 'path' | 'url';
  /**
   * @description Of `link-odd`: What is unusual. `relations`: there are other links before the one to the next page, and after the last page there are only these. One has a title with commas and quotation marks. `unquoted`: `rel=next`. `two-in-one`: `rel="section next"`. `relative`: a path instead of a URL.
   * @enum {string}
   */
  linkForm?: 'relations' | 'unquoted' | 'two-in-one' | 'relative';
  /**
   * @description Of `stream-cut`: Where the stream is cut. `last`: in its first event, or in the last one if it sends several at once. `second`: in its second event. `after-no-id`: there too, after a message without an `id`.
   * @enum {string}
   */
  cut?: 'last' | 'second' | 'after-no-id';
  /**
   * @description Of `stream-pieces`: The form of the lines. `lf`: as usual. `crlf`: lines end with CR and LF. `data-lines`: the JSON of an event has several lines of `data`.
   * @enum {string}
   */
  lineForm?: 'lf' | 'crlf' | 'data-lines';
  /** @description Of `stream-silent`: How long the stream is silent, in milliseconds. At most 100 requests of a key wait. One more ends the wait of the oldest. */
  streamSilenceMs?: number;
};
/** @description A rehearsal to start. */
export type NewRehearsal = {
  /** @description Faults to perform. Steps are performed in this order. Conditions apply all the time. */
  faults: PlannedFault[];
  /** @description How long the rehearsal lasts, in seconds. Default: 600. */
  expiresInSeconds?: number;
};
/** @description A rule for clients, and how it is judged. */
export type Check = {
  /** @description Its name, which never changes. */
  name: string;
  level: ('required' | 'recommended') | Unknown;
  /** @description What it requires of a client. */
  asks: string;
  /** @description What passes, what fails, and what is not judged. */
  judged: string;
  /** @description When it is not observed. */
  unseen: string;
  /** @description The faults that make it observable. */
  faults: string[];
  /** @description How to fix a failure. */
  advice: string;
  /** @description The guide of the reference with more about it. */
  guide: string;
};
/** @description The checks that judge recordings. */
export type CheckList = {
  /** @description The version of the checks. It increases when a check is added, removed or changes its meaning. */
  version: number;
  /** @description All checks. */
  checks: Check[];
};
/** @description The result of one check. */
export type CheckResult = {
  /** @description Its name, which never changes. */
  name: string;
  level: ('required' | 'recommended') | Unknown;
  result: ('passed' | 'failed' | 'not_observed') | Unknown;
  /** @description The requests that show it, 10 at most. */
  evidence: string[];
  /** @description The reason, in a sentence. */
  because: string;
  /** @description How to fix a failure. */
  advice: string;
  /** @description The guide of the reference with more about it. */
  guide: string;
};
/** @description The report card of a recording. */
export type Report = {
  /** @description The id of the recording. */
  recording: string;
  /** @description The version of the checks. It increases when a check is added, removed or changes its meaning. */
  version: number;
  verdict: ('passed' | 'failed' | 'incomplete') | Unknown;
  /** @description Every check, in the order of `GET /checks`. */
  checks: CheckResult[];
};
/** @description The requests of one key and their responses. */
export type Recording = {
  /** @description The id of the recording. */
  id: string;
  /** @description A label for people. */
  name?: string;
  /**
   * Format: date-time
   * @description When it started.
   */
  createdAt: string;
  /**
   * Format: date-time
   * @description When it expires.
   */
  expiresAt: string;
  /**
   * Format: date-time
   * @description When a request or the next recording ended it.
   */
  endedAt?: string;
  /** @description The number of stored requests. */
  requests: number;
  /** @description The number of requests that were not stored. A recording stores at most 5000, and fewer if they are large or come faster than they can be written. All recordings of a key store at most 100000 a day (UTC). */
  leftOut: number;
};
/** @description Recordings, newest first. */
export type RecordingList = Recording[];
/** @description A recording to start. */
export type NewRecording = {
  /** @description A label for people. */
  name?: string;
  /** @description How long the recording lasts, in seconds. Default: 3600. */
  expiresInSeconds?: number;
};
/** @description A request and its outcome. */
export type RecordedRequest = {
  /** @description Its number in the recording. */
  id: string;
  /** @description `X-Request-Id` of the response. */
  requestId: string;
  /**
   * Format: date-time
   * @description When it was handled.
   */
  at: string;
  /**
   * Format: double
   * @description Milliseconds from the start of the recording to `at`, with microseconds as decimals. Negative only if clocks differ.
   */
  offsetMs: number;
  /** @description The method. */
  method: string;
  /** @description Path and query as sent, cut at 4096 characters. */
  target: string;
  /** @description The operationId, if there is such an operation. */
  operation?: string;
  /** @description Headers, with names in lower case, cut at 4096 characters. Values that are not known to be harmless are `(not kept)`. */
  headers: {
    [key: string]: string;
  };
  /** @description The first 8192 bytes of the body. */
  body?: string;
  /** @description The size of the body in bytes. Absent if it was not read. */
  bodyBytes?: number;
  /** @description The status code. Absent without a response: the connection was cut, or the client disconnected first. */
  status?: number;
  /** @description The code of an error. */
  code?: string;
  /**
   * Format: double
   * @description Milliseconds to the end of the response, or until the client disconnected.
   */
  durationMs: number;
  /**
   * Format: double
   * @description Milliseconds since the end of the previous request with the same method and target, and the same body or `Idempotency-Key`. Absent for the first.
   */
  gapMs?: number;
  /** @description The `id` of the failed request that this one repeats. It is the most recent earlier request with the same method and target, and the same body or `Idempotency-Key`. Failed means no complete response, or a status of 400 or higher. Absent if this request repeats none, or if the earlier one succeeded or was still in progress. */
  retryOf?: string;
  /** @description The faults that were performed on it. */
  fault?: string;
  /** @description Response headers, with names in lower case. Headers that are the same in every response are left out. */
  answerHeaders: {
    [key: string]: string;
  };
  /** @description Equal for requests with the same method, target and body, also in other recordings. If the body was not read, it is the fingerprint of a request with the same `Idempotency-Key`, or else a guess. */
  fingerprint: string;
  /** @description The id of its connection. */
  connection: string;
  /**
   * @description Whether it came through a proxy. Then `connection` identifies the connection of the proxy.
   * @enum {boolean}
   */
  proxied?: true;
  /**
   * @description Whether the lab's page sent it for itself. Report cards leave it out.
   * @enum {boolean}
   */
  labPage?: true;
  /**
   * @description Whether the client closed its side of the connection before the response was complete. A half-closed connection, on which the client still reads, looks the same.
   * @enum {boolean}
   */
  left?: true;
  /**
   * Format: double
   * @description For a stream that the client closed: milliseconds since the service last sent something on it. Absent if the service ended the stream.
   */
  silenceMs?: number;
  /** @description For a stream that `stream-cut` ended: the id of the incomplete event. */
  cutEventId?: string;
  /** @description What the other writer of `conflict` changed just before this request. */
  otherWriter?: {
    /** @description The property that it changed. */
    property: string;
    /** @description The value before, as JSON. */
    before: string;
  };
};
/** @description Requests, ordered by their ends. */
export type RecordedRequestList = RecordedRequest[];
/** @description A request and its response. */
export type HarEntry = {
  /**
   * Format: date-time
   * @description When it was handled.
   */
  startedDateTime: string;
  /** @description The duration in milliseconds. */
  time: number;
  request: {
    /** @description The method. */
    method: string;
    /** @description The URL. */
    url: string;
    /** @description `HTTP/1.1`, the version that the service speaks. The version of the request is not recorded. */
    httpVersion: string;
    /** @description Always empty: cookies are not stored. */
    cookies: {
      /** @description Its name. */
      name: string;
      /** @description Its value. */
      value: string;
    }[];
    /** @description Header fields. */
    headers: {
      /** @description Its name. */
      name: string;
      /** @description Its value. */
      value: string;
    }[];
    /** @description Not known: −1. */
    headersSize: number;
    /** @description The size of the body in bytes; −1 if it is not known. */
    bodySize: number;
    /** @description The parameters of the query, 200 at most. */
    queryString: {
      /** @description Its name. */
      name: string;
      /** @description Its value. */
      value: string;
    }[];
    postData?: {
      /** @description The media type of the body. */
      mimeType: string;
      /** @description The beginning of the body. */
      text: string;
    };
  };
  response: {
    /** @description The status code; 0 if the connection was cut off. */
    status: number;
    /** @description The reason phrase of the status. */
    statusText: string;
    /** @description `HTTP/1.1`, the version that the service speaks. The version of the request is not recorded. */
    httpVersion: string;
    /** @description Always empty: cookies are not stored. */
    cookies: {
      /** @description Its name. */
      name: string;
      /** @description Its value. */
      value: string;
    }[];
    /** @description Header fields. */
    headers: {
      /** @description Its name. */
      name: string;
      /** @description Its value. */
      value: string;
    }[];
    /** @description Not known: −1. */
    headersSize: number;
    /** @description The size of the body in bytes; −1 if it is not known. */
    bodySize: number;
    content: {
      /** @description The size of the body in bytes; −1 if it is not known. */
      size: number;
      /** @description The media type of the body. */
      mimeType: string;
    };
    /** @description Always empty. */
    redirectURL: string;
  };
  /** @description Always empty. */
  cache: Record<string, never>;
  timings: {
    /** @description Always 0: it is included in `wait`. */
    send: number;
    /** @description The duration in milliseconds. */
    wait: number;
    /** @description Always 0: it is included in `wait`. */
    receive: number;
  };
  /** @description The id of its connection. */
  connection: string;
  /** @description Its number, the faults that affected it, and `client disconnected` if it disconnected before its response was complete. */
  comment: string;
};
/** @description An HTTP Archive (HAR 1.2), which the developer tools of browsers can open. */
export type Har = {
  log: {
    /** @description The version of the format. */
    version: string;
    creator: {
      /** @description The program that created it. */
      name: string;
      /** @description Its version. */
      version: string;
    };
    /** @description Requests in the order of time. */
    entries: HarEntry[];
    /** @description Where the rest of the recording is. Absent if there is none. */
    comment?: string;
  };
};
/** @description A minute or a day in which requests are counted. */
export type AccountWindow = {
  /** @description Requests admitted in this window. */
  limit: number;
  /** @description Requests left in this window. */
  remaining: number;
  /**
   * Format: int64
   * @description When it ends, in Unix seconds, like `X-RateLimit-Reset`.
   */
  reset: Int64;
};
/** @description The request that started the ban, if known. */
export type BanStart = {
  /** @description `X-Request-Id` of the response. */
  requestId: string;
  /** @description Its method. */
  method: string;
  /** @description The path without the query, cut at 200 characters. */
  path: string;
  /**
   * Format: date-time
   * @description When it was refused.
   */
  at: string;
};
/** @description The ban of the key, if there is one, and the length of the next ban. */
export type AccountBan = {
  /**
   * Format: date-time
   * @description When it started. Absent without a ban.
   */
  since?: string;
  /**
   * Format: date-time
   * @description When it ends. Absent without a ban.
   */
  until?: string;
  by?: BanStart;
  /** @description The length of the next ban if it started now, in seconds. */
  nextSeconds: number;
};
/** @description An active rehearsal or recording. */
export type ActiveOfAccount = {
  /** @description Its id. */
  id: string;
  /**
   * Format: date-time
   * @description When it expires.
   */
  expiresAt: string;
};
/** @description The state of a key. */
export type Account = {
  /**
   * Format: date-time
   * @description The time of the service.
   */
  at: string;
  /** @description The id of the key. */
  keyId: string;
  plan: ('free' | 'pro' | 'business' | 'enterprise') | Unknown;
  /** @description The name of its workspace. */
  workspace: string;
  /** @description How limits are counted. `on`: by all instances together. `off`: by each instance separately, as configured. `away`: by each instance separately, because the shared store is unreachable. */
  sharing: string;
  minute: AccountWindow;
  day: AccountWindow;
  /** @description The window that `X-RateLimit-*` describe: `minute` or `day`. */
  binding: string;
  /** @description The rate limit headers that a response would have now, with `Retry-After` if a request would be refused. */
  headers: {
    [key: string]: string;
  };
  /** @description Requests that got 429 in this minute. */
  strikes: number;
  /** @description The number of strikes in a minute that do not cause a ban. One more starts it. */
  strikesAllowed: number;
  ban: AccountBan;
  /** @description Open event streams of the key, on all instances. */
  openStreams: number;
  rehearsal?: ActiveOfAccount;
  recording?: ActiveOfAccount;
};
/** @description The content of a workspace. */
export type WorkspaceContent = {
  /** @description The number of categories. */
  categories: number;
  /** @description The number of pets. */
  pets: number;
  /** @description The number of orders. */
  orders: number;
};
export interface operations {
  listRecordedRequests: {
    parameters: {
      query?: {
        /** @description Continues after the request with this number. */
        after?: number;
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
    };
  };
  getHar: {
    parameters: {
      query?: {
        /** @description Continues after the request with this number. */
        after?: number;
      };
    };
  };
}
