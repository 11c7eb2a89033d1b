import { withoutSecrets } from '../../foundation/redact.ts';
import { created, empty, operation, page, resource } from '../../http/operation.ts';
import { archiveBounds, maxKept, othersWriteMs } from '../lab-bounds.ts';
import { Har } from './har.ts';
import {
  deleteRecording,
  endRecording,
  getRecording,
  listRecordings,
  startRecording,
} from './recording-store.ts';
import {
  after,
  BegunRecording,
  defaultExpirySeconds,
  NewRecording,
  RecordedRequests,
  Recording,
  Recordings,
  recordingId,
} from './schema.ts';
import { type RecordingServices, readingsBounded, whenRecorded } from './services.ts';

export const recordingOperations = [
  operation({
    method: 'GET',
    path: '/recordings',
    id: 'listRecordings',
    tag: 'Recordings',
    summary: 'List recordings',
    description: `Returns the recordings of the key, the newest first; ${maxKept} at most are kept.`,
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
      'Begins to keep what is sent with the key that asks, and with no other, and what comes of it. The recording before ends, and can still be read. Once this is answered, every instance keeps. Credentials are never kept, nor the values of header fields that are not known to be harmless.',
    bindsKey: true,
    body: NewRecording,
    success: created(BegunRecording, 'The recording.', ({ id }) => `/recordings/${id}`),
    handle: async (sql, input) => {
      const { name = '', expiresInSeconds = defaultExpirySeconds } = input.body;
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
    description: 'Returns a recording of the key: how long it lasts, and how many requests it has kept.',
    params: { recordingId },
    success: resource(Recording, 'The recording.'),
    prepare: whenRecorded,
    handle: (sql, input) => getRecording(sql, input, input.params.recordingId),
  }),

  operation({
    method: 'GET',
    path: '/recordings/{recordingId}/requests',
    id: 'listRecordedRequests',
    tag: 'Recordings',
    summary: 'List recorded requests',
    description: `Returns what a recording has kept, in the order in which it was kept, which is that of the ends: so a reader that follows while the client goes on misses nothing. A request that began earlier and took longer comes later; sort by \`at\` for the order in which they came. To follow a recording, ask again with the last \`id\` as \`after\`. The \`gapMs\` and the \`retryOf\` of a request may change when a request that began before it ends. What other instances answered within the last second may still be missing. ${readingsBounded}`,
    params: { recordingId },
    query: { after },
    success: page(RecordedRequests, 'A page of requests.'),
    prepare: whenRecorded,
    handle: (_sql, input, { readings }: RecordingServices) => {
      const { params, query, page } = input;
      // The link to the next page has both.
      const part = { ...page, after: Math.max(page.after, query.after ?? 0) };
      return readings.page(input, params.recordingId, part);
    },
  }),

  operation({
    method: 'GET',
    path: '/recordings/{recordingId}/har',
    id: 'getHar',
    tag: 'Recordings',
    summary: 'Get a recording as an HTTP Archive',
    description: `Returns what a recording has kept as an HTTP Archive (HAR 1.2), which the developer tools of browsers open, and other tools. Bodies of answers are not kept. An archive holds ${archiveBounds.requests} requests at most, and fewer if they are large; its comment then says how to get the next one. ${readingsBounded}`,
    params: { recordingId },
    query: { after },
    success: resource(Har, 'The HTTP Archive.'),
    prepare: whenRecorded,
    handle: (_sql, input, { readings }: RecordingServices) => {
      const { params, query, baseUrl } = input;
      const url = `${baseUrl}/recordings/${params.recordingId}/har`;
      return readings.archive(input, params.recordingId, query.after ?? 0, url);
    },
  }),

  operation({
    method: 'POST',
    path: '/recordings/{recordingId}/end',
    id: 'endRecording',
    tag: 'Recordings',
    summary: 'End a recording',
    description: `Ends a recording. Requests that were answered before this one was received are counted in the answer, and \`requests\` is final. What is answered later is left out and counted in \`leftOut\`, and so is what another instance writes more than ${othersWriteMs} ms later, since the storage is slow. What the recording has kept can be read until a day after it began.`,
    bindsKey: true,
    params: { recordingId },
    success: resource(Recording, 'The recording as it ended.'),
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
    description: 'Ends a recording, and removes it with all that it has kept.',
    bindsKey: true,
    params: { recordingId },
    success: empty('The recording was removed.'),
    handle: async (sql, input) => {
      input.assertMayChange(await getRecording(sql, input, input.params.recordingId));
      await deleteRecording(sql, input, input.params.recordingId);
    },
  }),
];
