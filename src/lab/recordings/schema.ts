import { type Static, type TArray, Type } from 'typebox';
import { DateTime, Shown, Text, Units } from '../../foundation/schema.ts';
import { maxLifeSeconds, maxRecordedBody, maxRecordedHead, recorderBounds } from '../lab-bounds.ts';

const exampleId = 'rec_602845719936';

export const recordingId = Text(64, 'The id of the recording.', exampleId);

export const after = Type.Optional(
  Type.Integer({
    format: 'int32',
    minimum: 0,
    maximum: recorderBounds.maxRecorded,
    description: 'Continues after the request with this number.',
    examples: [0],
  }),
);

export const usualRecordingSeconds = 3_600;
const maxName = 100;

export const NewRecording = Type.Object(
  {
    name: Type.Optional(Text(maxName, 'A label for people.', 'my client')),
    expiresInSeconds: Type.Optional(
      Type.Integer({
        format: 'int32',
        minimum: 1,
        maximum: maxLifeSeconds,
        description: `How long the recording lasts, in seconds. Default: ${usualRecordingSeconds}.`,
        examples: [600],
      }),
    ),
  },
  { title: 'NewRecording', description: 'A recording to start.' },
);

export const Recording = Type.Object(
  {
    id: recordingId,
    name: Type.Optional(Text(maxName, 'A label for people.', 'my client')),
    createdAt: DateTime('When it started.', '2026-11-21T09:30:00.000Z'),
    expiresAt: DateTime('When it expires.', '2026-11-21T10:30:00.000Z'),
    endedAt: Type.Optional(
      DateTime('When a request or the next recording ended it.', '2026-11-21T09:35:00.000Z'),
    ),
    requests: Units(0, 'The number of stored requests.', 42),
    leftOut: Units(
      0,
      `The number of requests that were not stored. A recording stores at most ${recorderBounds.maxRecorded}, and fewer if they are large or come faster than they can be written. All recordings of a key store at most ${recorderBounds.maxRecordedPerDay} a day (UTC).`,
      0,
    ),
  },
  { title: 'Recording', description: 'The requests of one key and their responses.' },
);
export type Recording = Static<typeof Recording>;

/** `Recording` with an example that has just started. */
export const BegunRecording = {
  ...Recording,
  examples: [
    {
      id: exampleId,
      name: 'my client',
      createdAt: '2026-11-21T09:30:00.000Z',
      expiresAt: '2026-11-21T10:30:00.000Z',
      requests: 0,
      leftOut: 0,
    },
  ],
};

export const Recordings = Type.Array(Recording, {
  title: 'RecordingList',
  description: 'Recordings, newest first.',
});

const milliseconds = (description: string, example: number) =>
  Type.Number({ format: 'double', minimum: 0, description, examples: [example] });

const mark = (description: string) =>
  Type.Optional(Type.Literal(true, { type: 'boolean', description, examples: [true] }));

const RecordedRequest = Type.Object(
  {
    id: Shown('Its number in the recording.', '7'),
    requestId: Shown('`X-Request-Id` of the response.', '9f8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d'),
    at: DateTime('When it was handled.', '2026-11-21T09:30:05.125Z'),
    offsetMs: Type.Number({
      format: 'double',
      description:
        'Milliseconds from the start of the recording to `at`, with microseconds as decimals. Negative only if clocks differ.',
      examples: [5125.482],
    }),
    method: Shown('The method.', 'POST'),
    target: Shown(`Path and query as sent, cut at ${maxRecordedHead} characters.`, '/v1/store/orders'),
    operation: Type.Optional(Shown('The operationId, if there is such an operation.', 'placeOrder')),
    headers: Type.Record(Type.String(), Type.String(), {
      description: `Headers, with names in lower case, cut at ${maxRecordedHead} characters. Values that are not known to be harmless are \`(not kept)\`.`,
      examples: [{ 'user-agent': 'my-client/1.0', authorization: '(not kept)' }],
    }),
    body: Type.Optional(Shown(`The first ${maxRecordedBody} bytes of the body.`, '{"petId":1,"quantity":1}')),
    bodyBytes: Type.Optional(Units(0, 'The size of the body in bytes. Absent if it was not read.', 24)),
    status: Type.Optional(
      Type.Integer({
        format: 'int32',
        description:
          'The status code. Absent without a response: the connection was cut, or the client disconnected first.',
        examples: [429],
      }),
    ),
    code: Type.Optional(Shown('The code of an error.', 'rate_limited')),
    durationMs: milliseconds(
      'Milliseconds to the end of the response, or until the client disconnected.',
      3.2,
    ),
    gapMs: Type.Optional(
      milliseconds(
        'Milliseconds since the end of the previous request with the same method and target, and the same body or `Idempotency-Key`. Absent for the first.',
        2004.7,
      ),
    ),
    retryOf: Type.Optional(
      Shown(
        'The `id` of the failed request that this one repeats. It is the most recent earlier request with the same method and target, and the same body or `Idempotency-Key`. Failed means no complete response, or a status of 400 or higher. Absent if this request repeats none, or if the earlier one succeeded or was still in progress.',
        '6',
      ),
    ),
    fault: Type.Optional(Shown('The faults that were performed on it.', 'rate-limited')),
    answerHeaders: Type.Record(Type.String(), Type.String(), {
      description:
        'Response headers, with names in lower case. Headers that are the same in every response are left out.',
      examples: [{ 'retry-after': '2', 'x-ratelimit-remaining': '0' }],
    }),
    fingerprint: Shown(
      'Equal for requests with the same method, target and body, also in other recordings. If the body was not read, it is the fingerprint of a request with the same `Idempotency-Key`, or else a guess.',
      'GcBhUnXG.V5Tz8YqC',
    ),
    connection: Shown('The id of its connection.', 'pX31aZ09-7'),
    proxied: mark(
      'Whether it came through a proxy. Then `connection` identifies the connection of the proxy.',
    ),
    labPage: mark("Whether the lab's page sent it for itself. Report cards leave it out."),
    left: mark(
      'Whether the client closed its side of the connection before the response was complete. A half-closed connection, on which the client still reads, looks the same.',
    ),
    silenceMs: Type.Optional(
      milliseconds(
        'For a stream that the client closed: milliseconds since the service last sent something on it. Absent if the service ended the stream.',
        40_000,
      ),
    ),
    cutEventId: Type.Optional(
      Shown('For a stream that `stream-cut` ended: the id of the incomplete event.', '7'),
    ),
    otherWriter: Type.Optional(
      Type.Object(
        {
          property: Shown('The property that it changed.', 'name'),
          before: Shown('The value before, as JSON.', '"Rex"'),
        },
        { description: 'What the other writer of `conflict` changed just before this request.' },
      ),
    ),
  },
  { title: 'RecordedRequest', description: 'A request and its outcome.' },
);
export type RecordedRequest = Static<typeof RecordedRequest>;

export const RecordedRequests = Type.Array(RecordedRequest, {
  title: 'RecordedRequestList',
  description: 'Requests, ordered by their ends.',
}) as TArray<typeof RecordedRequest> & { '~item'?: RecordedRequest };
