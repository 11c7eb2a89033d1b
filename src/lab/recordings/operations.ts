import { withoutSecrets } from '../../foundation/redact.ts';
import { type Input, operation } from '../../http/operation.ts';
import type { PageRequest } from '../../http/pagination.ts';
import { created, empty, page, type Rendered, resource } from '../../http/responses.ts';
import { archiveBounds, maxKept, maxWaitingReportJobs, othersWriteMs } from '../lab-bounds.ts';
import { Har } from './har.ts';
import {
  after,
  BegunRecording,
  NewRecording,
  RecordedRequests,
  Recording,
  Recordings,
  recordingId,
  usualRecordingSeconds,
} from './schema.ts';
import { deleteRecording, endRecording, getRecording, listRecordings, startRecording } from './store.ts';

/** The request that reads a recording. Its signal aborts when the client disconnects. */
export type Reader = Pick<Input<never, never, never>, 'workspaceId' | 'keyId' | 'disconnected'>;

/** What operations on recordings need of the instance that runs them. `ReportJobs` in `lab/report-jobs` reads the recordings. */
export interface RecordingServices {
  /** Waits until this instance has written all requests that it has recorded for a key so far. */
  waitUntilRecorded(keyId: string): Promise<void>;
  /** The same, and gives other instances the time to write what they recorded. */
  waitUntilRecordedByAll(keyId: string): Promise<void>;
  reportJobs: {
    page(reader: Reader, recordingId: string, part: PageRequest): Promise<Rendered>;
    archive(reader: Reader, recordingId: string, after: number, url: string): Promise<Rendered>;
  };
}

/** A part of the description of every operation that reads a recording. */
export const reportJobsBounded = `A key can read one report, archive or page of requests at a time. ${maxWaitingReportJobs} more wait. The next gets 429 \`rate_limited\` with \`Retry-After\`. A read stops when its client disconnects, even if the client only closes its sending side.`;

/** For `prepare` of operations that read a recording. */
export const whenRecorded = (
  { keyId }: { keyId: string },
  { waitUntilRecorded }: Pick<RecordingServices, 'waitUntilRecorded'>,
) => waitUntilRecorded(keyId);

const ofRecording = { params: { recordingId }, prepare: whenRecorded };

export const recordingOperations = [
  operation({
    method: 'GET',
    path: '/recordings',
    id: 'listRecordings',
    tag: 'Recordings',
    summary: 'List recordings',
    description: `Returns the recordings of the key, newest first. At most ${maxKept} are kept.`,
    success: resource(Recordings, 'The recordings of the key.'),
    prepare: whenRecorded,
    handle: (sql, input) => listRecordings(sql, input),
  }),

  operation({
    method: 'POST',
    path: '/recordings',
    id: 'startRecording',
    tag: 'Recordings',
    summary: 'Start a recording',
    description:
      'Starts to record the requests with your key, and their responses. The previous recording ends, and can still be read. When you get the response, all instances record. Credentials are never stored. A header value is stored only if it is known to be harmless.',
    changesKey: true,
    body: NewRecording,
    success: created(BegunRecording, 'The recording.'),
    handle: async (sql, input) => {
      const { name = '', expiresInSeconds = usualRecordingSeconds } = input.body;
      const expiresAtMs = input.nowMs + expiresInSeconds * 1_000;
      const id = await startRecording(sql, input, withoutSecrets(name), input.nowMs, expiresAtMs);
      return getRecording(sql, input, id);
    },
  }),

  operation({
    method: 'GET',
    path: '/recordings/{recordingId}',
    id: 'getRecording',
    tag: 'Recordings',
    summary: 'Get a recording',
    description: 'Returns a recording of the key: when it ends, and how many requests it has.',
    ...ofRecording,
    success: resource(Recording, 'The recording.'),
    handle: (sql, input) => getRecording(sql, input, input.params.recordingId),
  }),

  operation({
    method: 'GET',
    path: '/recordings/{recordingId}/requests',
    id: 'listRecordedRequests',
    tag: 'Recordings',
    summary: 'List recorded requests',
    description: `Returns the requests of a recording, ordered by the time at which they ended. So you miss none while the client still runs. For the order in which requests began, sort by \`at\`. To follow a recording, repeat the request with the last \`id\` as \`after\`. The \`gapMs\` and \`retryOf\` of a request may change when an earlier request ends. Requests of the last second on other instances may still be missing. ${reportJobsBounded}`,
    ...ofRecording,
    query: { after },
    success: page(RecordedRequests, 'A page of requests.'),
    handle: (_sql, input, { reportJobs }: RecordingServices) => {
      const { params, query, page } = input;
      // The link to the next page has both.
      const part = { ...page, after: Math.max(page.after, query.after ?? 0) };
      return reportJobs.page(input, params.recordingId, part);
    },
  }),

  operation({
    method: 'GET',
    path: '/recordings/{recordingId}/har',
    id: 'getHar',
    tag: 'Recordings',
    summary: 'Get a recording as an HTTP Archive',
    description: `Returns a recording as an HTTP Archive (HAR 1.2), which browsers' developer tools and other tools can open. Response bodies are not recorded. An archive has at most ${archiveBounds.requests} requests, and fewer if they are large. If there are more, its comment has the URL of the next archive. ${reportJobsBounded}`,
    ...ofRecording,
    query: { after },
    success: resource(Har, 'The HTTP Archive.'),
    handle: (_sql, input, { reportJobs }: RecordingServices) => {
      const { params, query, baseUrl } = input;
      const url = `${baseUrl}/recordings/${params.recordingId}/har`;
      return reportJobs.archive(input, params.recordingId, query.after ?? 0, url);
    },
  }),

  operation({
    method: 'POST',
    path: '/recordings/{recordingId}/end',
    id: 'endRecording',
    tag: 'Recordings',
    summary: 'End a recording',
    description: `Ends a recording. It contains every request whose response was sent before this request arrived. The count \`requests\` does not change afterwards. \`leftOut\` counts later requests, and requests that another instance stores more than ${othersWriteMs} ms later. You can read a recording until a day after its start.`,
    changesKey: true,
    params: { recordingId },
    success: resource(Recording, 'The ended recording.'),
    prepare: ({ keyId }, { waitUntilRecordedByAll }: RecordingServices) => waitUntilRecordedByAll(keyId),
    handle: async (sql, input) => {
      await endRecording(sql, input, input.params.recordingId, input.nowMs);
      return getRecording(sql, input, input.params.recordingId);
    },
  }),

  operation({
    method: 'DELETE',
    path: '/recordings/{recordingId}',
    id: 'deleteRecording',
    tag: 'Recordings',
    summary: 'Remove a recording',
    description: 'Ends a recording, and removes it with all its requests.',
    changesKey: true,
    params: { recordingId },
    success: empty('The recording was removed.'),
    handle: async (sql, input) => {
      input.assertMayChange(await getRecording(sql, input, input.params.recordingId));
      await deleteRecording(sql, input, input.params.recordingId);
    },
  }),
];
