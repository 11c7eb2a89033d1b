// Made from the description of the lab by "npm run generate" (262a4b8dba32). Do not edit.

import type * as types from './lab-description.ts';
import type { List } from './list.ts';
import type { CallOptions, ChangeOptions, CreateOptions, ReadOptions } from './options.ts';

/** Query parameters of `listRecordedRequests`. */
export type ListRecordedRequestsQuery = NonNullable<
  types.operations['listRecordedRequests']['parameters']['query']
>;

/** Query parameters of `getHar`. */
export type GetHarQuery = NonNullable<types.operations['getHar']['parameters']['query']>;

/** A client of the lab: every operation, by its operationId. */
export interface Lab {
  /**
   * List faults: `GET /faults`.
   *
   * Returns every fault that a rehearsal can perform: what it does, and how a good client reacts.
   */
  listFaults(options?: ReadOptions): Promise<types.FaultList>;

  /**
   * List rehearsals: `GET /rehearsals`.
   *
   * Returns the rehearsals of the key, newest first. At most 20 are kept.
   */
  listRehearsals(options?: ReadOptions): Promise<types.RehearsalList>;

  /**
   * Start a rehearsal: `POST /rehearsals`.
   *
   * Makes the service perform faults for your key only. The previous rehearsal ends. When you get the response, all instances perform the faults. With several instances, the response takes half a second. The header `Petstore-Rehearsal` marks each response that a fault has changed.
   */
  startRehearsal(body: types.NewRehearsal, options?: CreateOptions): Promise<types.Rehearsal>;

  /**
   * Get a rehearsal: `GET /rehearsals/{rehearsalId}`.
   *
   * Returns a rehearsal of the key: how often each fault was performed, and how many performances remain.
   */
  getRehearsal(rehearsalId: string, options?: ReadOptions): Promise<types.Rehearsal>;

  /**
   * End a rehearsal: `DELETE /rehearsals/{rehearsalId}`.
   *
   * Ends a rehearsal. You can read it until a day after its expiry time.
   */
  endRehearsal(rehearsalId: string, options?: ChangeOptions): Promise<types.Rehearsal>;

  /**
   * List checks: `GET /checks`.
   *
   * Returns every check of a report card: what it requires of a client, how it is judged, and how to fix a failure.
   */
  listChecks(options?: ReadOptions): Promise<types.CheckList>;

  /**
   * Get a report card: `GET /recordings/{recordingId}/report`.
   *
   * Judges the requests recorded so far: each check with its result, the requests that show it, and how to fix a failure. Read it after the client has ended: a client that is still waiting counts as one that gave up. Requests that the lab page sends for itself are not judged: they have `labPage`. Those of its demos are judged. The report is stored until the recording changes. A key can read one report, archive or page of requests at a time. 3 more wait. The next gets 429 `rate_limited` with `Retry-After`. A read stops when its client disconnects, even if the client only closes its sending side.
   */
  getReport(recordingId: string, options?: ReadOptions): Promise<types.Report>;

  /**
   * Get a report card as Markdown: `GET /recordings/{recordingId}/report/markdown`.
   *
   * Returns the report card for people: failures first, then a table of all checks. A key can read one report, archive or page of requests at a time. 3 more wait. The next gets 429 `rate_limited` with `Retry-After`. A read stops when its client disconnects, even if the client only closes its sending side.
   */
  getReportAsMarkdown(recordingId: string, options?: CallOptions): Promise<string>;

  /**
   * Get a report card as JUnit XML: `GET /recordings/{recordingId}/report/junit`.
   *
   * Returns the report card as JUnit XML for CI systems. It has failures only if the verdict is `failed`. Skipped tests, with their reason, are recommended checks that failed and checks that were not observed. A key can read one report, archive or page of requests at a time. 3 more wait. The next gets 429 `rate_limited` with `Retry-After`. A read stops when its client disconnects, even if the client only closes its sending side.
   */
  getReportAsJunit(recordingId: string, options?: CallOptions): Promise<string>;

  /**
   * List recordings: `GET /recordings`.
   *
   * Returns the recordings of the key, newest first. At most 20 are kept.
   */
  listRecordings(options?: ReadOptions): Promise<types.RecordingList>;

  /**
   * Start a recording: `POST /recordings`.
   *
   * Starts to record the requests with your key, and their responses. The previous recording ends, and can still be read. When you get the response, all instances record. Credentials are never stored. A header value is stored only if it is known to be harmless.
   */
  startRecording(body: types.NewRecording, options?: CreateOptions): Promise<types.Recording>;

  /**
   * Get a recording: `GET /recordings/{recordingId}`.
   *
   * Returns a recording of the key: when it ends, and how many requests it has.
   */
  getRecording(recordingId: string, options?: ReadOptions): Promise<types.Recording>;

  /**
   * Remove a recording: `DELETE /recordings/{recordingId}`.
   *
   * Ends a recording, and removes it with all its requests.
   */
  deleteRecording(recordingId: string, options?: ChangeOptions): Promise<void>;

  /**
   * List recorded requests: `GET /recordings/{recordingId}/requests`.
   *
   * Returns the requests of a recording, ordered by the time at which they ended. So you miss none while the client still runs. For the order in which requests began, sort by `at`. To follow a recording, repeat the request with the last `id` as `after`. The `gapMs` and `retryOf` of a request may change when an earlier request ends. Requests of the last second on other instances may still be missing. A key can read one report, archive or page of requests at a time. 3 more wait. The next gets 429 `rate_limited` with `Retry-After`. A read stops when its client disconnects, even if the client only closes its sending side.
   */
  listRecordedRequests(
    recordingId: string,
    query?: ListRecordedRequestsQuery,
    options?: ReadOptions,
  ): List<types.RecordedRequest>;

  /**
   * Get a recording as an HTTP Archive: `GET /recordings/{recordingId}/har`.
   *
   * Returns a recording as an HTTP Archive (HAR 1.2), which browsers' developer tools and other tools can open. Response bodies are not recorded. An archive has at most 1000 requests, and fewer if they are large. If there are more, its comment has the URL of the next archive. A key can read one report, archive or page of requests at a time. 3 more wait. The next gets 429 `rate_limited` with `Retry-After`. A read stops when its client disconnects, even if the client only closes its sending side.
   */
  getHar(recordingId: string, query?: GetHarQuery, options?: ReadOptions): Promise<types.Har>;

  /**
   * End a recording: `POST /recordings/{recordingId}/end`.
   *
   * Ends a recording. It contains every request whose response was sent before this request arrived. The count `requests` does not change afterwards. `leftOut` counts later requests, and requests that another instance stores more than 500 ms later. You can read a recording until a day after its start.
   */
  endRecording(recordingId: string, options?: CreateOptions): Promise<types.Recording>;

  /**
   * Get the account of the key: `GET /account`.
   *
   * Returns the state of the key: its limits, strikes, ban, streams, and active rehearsal and recording. A strike is a request that got 429 and counts towards a ban. This request does not count against the limits, and works during a ban. If instances do not share limits, each returns its own counts; see `sharing`.
   */
  getAccount(options?: ReadOptions): Promise<types.Account>;

  /**
   * Reset the workspace: `POST /workspace/reset`.
   *
   * Removes all data of the workspace, and restores the demo data, with ids from 1. This affects all keys of the workspace. Every key may do it, even during a ban. Keys, limits, webhooks, events, recordings and rehearsals stay. The history gets `workspace.reset` and `workspace.seeded`. The stored responses of `Idempotency-Key`s to removed resources are removed, too. With more than 1,000 categories, pets and orders the response is 409, and its message names the command to use. An instance resets a workspace at most once a second. Requests reset a workspace at most 3,000 times a day (UTC).
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
