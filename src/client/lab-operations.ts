// Made from the description of the lab by "npm run generate" (6f19faf313ab). Do not edit.

import type * as types from './lab-description.ts';
import type { List } from './list.ts';
import type { CallOptions, ChangeOptions, CreateOptions, ReadOptions } from './options.ts';

/** What `listRecordedRequests` may be asked for. */
export type ListRecordedRequestsQuery = NonNullable<
  types.operations['listRecordedRequests']['parameters']['query']
>;

/** What `getHar` may be asked for. */
export type GetHarQuery = NonNullable<types.operations['getHar']['parameters']['query']>;

/** A client of the lab: every operation, by its operationId. */
export interface Lab {
  /**
   * List faults: `GET /faults`.
   *
   * Returns every fault that a rehearsal can perform: what it does, and what a good client does then.
   */
  listFaults(options?: ReadOptions): Promise<types.FaultList>;

  /**
   * List rehearsals: `GET /rehearsals`.
   *
   * Returns the rehearsals of the key, the newest first; 20 at most are kept.
   */
  listRehearsals(options?: ReadOptions): Promise<types.RehearsalList>;

  /**
   * Start a rehearsal: `POST /rehearsals`.
   *
   * Makes the service perform faults for the key that asks, and for no other. The rehearsal before ends. Once this is answered, every instance acts on it; with several instances that takes half a second. Answers that a fault has touched say so in `Petstore-Rehearsal`.
   */
  startRehearsal(body: types.NewRehearsal, options?: CreateOptions): Promise<types.Rehearsal>;

  /**
   * Get a rehearsal: `GET /rehearsals/{rehearsalId}`.
   *
   * Returns a rehearsal of the key: how often each fault was performed, and how often it still will be.
   */
  getRehearsal(rehearsalId: string, options?: ReadOptions): Promise<types.Rehearsal>;

  /**
   * End a rehearsal: `DELETE /rehearsals/{rehearsalId}`.
   *
   * Ends a rehearsal, which is still listed. What was performed can be read until a day after it would have ended by itself.
   */
  endRehearsal(rehearsalId: string, options?: ChangeOptions): Promise<types.Rehearsal>;

  /**
   * List checks: `GET /checks`.
   *
   * Returns every check of a report card: what it asks of a client, how it is judged, and what to do.
   */
  listChecks(options?: ReadOptions): Promise<types.CheckList>;

  /**
   * Get a report card: `GET /recordings/{recordingId}/report`.
   *
   * Judges what a recording has kept until now: each check with its result, the requests that show it, and what to do. Read it when the client has ended: one that still waits looks like one that has given up. Requests that the page of the lab sent itself are left out: their `X-Request-Id` begins with `lab-page-`, and not with `lab-page-burst-`. The report is made once for what the recording holds, and kept with it. A key may have one reading of its recordings under way, and 3 that wait: reports, archives and pages of requests count together. One more is answered 429 `rate_limited` with `Retry-After`. A reading stops when its client closes the connection or its side of it.
   */
  getReport(recordingId: string, options?: ReadOptions): Promise<types.Report>;

  /**
   * Get a report card as Markdown: `GET /recordings/{recordingId}/report/markdown`.
   *
   * Returns the report card as a text for people: the failures first, then a table of all checks. A key may have one reading of its recordings under way, and 3 that wait: reports, archives and pages of requests count together. One more is answered 429 `rate_limited` with `Retry-After`. A reading stops when its client closes the connection or its side of it.
   */
  getReportAsMarkdown(recordingId: string, options?: CallOptions): Promise<string>;

  /**
   * Get a report card as JUnit XML: `GET /recordings/{recordingId}/report/junit`.
   *
   * Returns the report card as JUnit XML, which CI systems read. It has a failure exactly if the verdict is `failed`: recommended checks that failed are skipped with their reason, as is what was not observed. A key may have one reading of its recordings under way, and 3 that wait: reports, archives and pages of requests count together. One more is answered 429 `rate_limited` with `Retry-After`. A reading stops when its client closes the connection or its side of it.
   */
  getReportAsJunit(recordingId: string, options?: CallOptions): Promise<string>;

  /**
   * List recordings: `GET /recordings`.
   *
   * Returns the recordings of the key, the newest first; 20 at most are kept.
   */
  listRecordings(options?: ReadOptions): Promise<types.RecordingList>;

  /**
   * Start a recording: `POST /recordings`.
   *
   * Begins to keep what is sent with the key that asks, and with no other, and what comes of it. The recording before ends, and can still be read. Once this is answered, every instance keeps. Credentials are never kept, nor the values of header fields that are not known to be harmless.
   */
  startRecording(body: types.NewRecording, options?: CreateOptions): Promise<types.Recording>;

  /**
   * Get a recording: `GET /recordings/{recordingId}`.
   *
   * Returns a recording of the key: how long it lasts, and how many requests it has kept.
   */
  getRecording(recordingId: string, options?: ReadOptions): Promise<types.Recording>;

  /**
   * Remove a recording: `DELETE /recordings/{recordingId}`.
   *
   * Ends a recording, and removes it with all that it has kept.
   */
  deleteRecording(recordingId: string, options?: ChangeOptions): Promise<void>;

  /**
   * List recorded requests: `GET /recordings/{recordingId}/requests`.
   *
   * Returns what a recording has kept, in the order in which it was kept, which is that of the ends: so a reader that follows while the client goes on misses nothing. A request that began earlier and took longer comes later; sort by `at` for the order in which they came. To follow a recording, ask again with the last `id` as `after`. The `gapMs` and the `retryOf` of a request may change when a request that began before it ends. What other instances answered within the last second may still be missing. A key may have one reading of its recordings under way, and 3 that wait: reports, archives and pages of requests count together. One more is answered 429 `rate_limited` with `Retry-After`. A reading stops when its client closes the connection or its side of it.
   */
  listRecordedRequests(
    recordingId: string,
    query?: ListRecordedRequestsQuery,
    options?: ReadOptions,
  ): List<types.RecordedRequest>;

  /**
   * Get a recording as an HTTP Archive: `GET /recordings/{recordingId}/har`.
   *
   * Returns what a recording has kept as an HTTP Archive (HAR 1.2), which the developer tools of browsers open, and other tools. Bodies of answers are not kept. An archive holds 1000 requests at most, and fewer if they are large; its comment then says how to get the next one. A key may have one reading of its recordings under way, and 3 that wait: reports, archives and pages of requests count together. One more is answered 429 `rate_limited` with `Retry-After`. A reading stops when its client closes the connection or its side of it.
   */
  getHar(recordingId: string, query?: GetHarQuery, options?: ReadOptions): Promise<types.Har>;

  /**
   * End a recording: `POST /recordings/{recordingId}/end`.
   *
   * Ends a recording. Requests that were answered before this one was received are counted in the answer, and `requests` is final. What is answered later is left out and counted in `leftOut`, and so is what another instance writes more than 500 ms later, since the storage is slow. What the recording has kept can be read until a day after it began.
   */
  endRecording(recordingId: string, options?: CreateOptions): Promise<types.Recording>;

  /**
   * Get the account of the key: `GET /account`.
   *
   * Returns how the key stands: its limits, its strikes, its ban and the request that began it, its streams, and what of the lab is active. It takes nothing from the limits, and answers during a ban, too. Where instances do not share limits, each tells what it has counted itself; `sharing` says whether they do.
   */
  getAccount(options?: ReadOptions): Promise<types.Account>;

  /**
   * Reset the workspace: `POST /workspace/reset`.
   *
   * Removes everything in the workspace of the key, and fills it with the demonstration data, whose ids begin at 1 again. All keys of the workspace see it, and each may ask for it, also one that is banned. Keys, their limits, webhooks, the history, recordings and rehearsals stay; the history tells `workspace.reset` and `workspace.seeded`. An Idempotency-Key of a request whose result goes is forgotten. A workspace that holds more than 1,000 categories, pets and orders is not reset by a request: 409 names the command that does it. An instance resets a workspace once a second at most.
   */
  resetWorkspace(options?: CreateOptions): Promise<types.WorkspaceContent>;
}

/**
 * Where each operation is sent, and what is special about it: a body, a query, the events that record it, and an answer that is
 * no object.
 */
export const labTargets: Readonly<Record<keyof Lab, string>> = {
  listFaults: 'GET /faults array',
  listRehearsals: 'GET /rehearsals array',
  startRehearsal: 'POST /rehearsals body',
  getRehearsal: 'GET /rehearsals/{rehearsalId:text}',
  endRehearsal: 'DELETE /rehearsals/{rehearsalId:text}',
  listChecks: 'GET /checks',
  getReport: 'GET /recordings/{recordingId:text}/report',
  getReportAsMarkdown: 'GET /recordings/{recordingId:text}/report/markdown text/markdown',
  getReportAsJunit: 'GET /recordings/{recordingId:text}/report/junit application/xml',
  listRecordings: 'GET /recordings array',
  startRecording: 'POST /recordings body',
  getRecording: 'GET /recordings/{recordingId:text}',
  deleteRecording: 'DELETE /recordings/{recordingId:text} nothing',
  listRecordedRequests: 'GET /recordings/{recordingId:text}/requests query list',
  getHar: 'GET /recordings/{recordingId:text}/har query',
  endRecording: 'POST /recordings/{recordingId:text}/end',
  getAccount: 'GET /account',
  resetWorkspace: 'POST /workspace/reset',
};
