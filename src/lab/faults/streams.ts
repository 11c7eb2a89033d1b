import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../foundation/errors.ts';
import { endConnection, resetConnection } from '../../http/connections.ts';
import { cutEvents, interceptWrites, onStreams } from './shared/connection-faults.ts';
import { maxDelayedNote, waitUnlessReleased } from './shared/delay-queue.ts';
import { choice, fault, integer } from './shared/fault.ts';

const cut = choice(
  ['last', 'second', 'after-no-id'],
  'Where the stream is cut. `last`: in its first event, or in the last one if it sends several at once. `second`: in its second event. `after-no-id`: there too, after a message without an `id`.',
);

/** A message like a sign of life: it is no event of the store, and does not change the position. */
const withoutId = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n');

export const streamCut = fault({
  name: 'stream-cut',
  parameters: { cut },
  needsDirectConnection: true,
  timesOfVariants: 3,
  ...onStreams,
  group: 'Streams',
  level: 'recommended',
  does: 'Closes the connection of a stream in the middle of an event: after its `id` and half of its `data`.',
  goodClient:
    'Discards the incomplete event, and opens the stream again after the last complete one, each time. Ignores messages that it does not know.',
  whyItMatters:
    'Clients that save the `id` before the event is complete lose this event. Others start again from the first event. The library eventsource sent the position of its first connection again and again, and event-source-plus from the second reconnection on. Others forget their position at a message without an `id`.',
  perform: ({ request, reply, parameters }) => {
    let seen = 0;
    let isCut = false;
    interceptWrites(reply, (bytes, done, send) => {
      if (isCut) return;
      const fields = placesOf(dataField, bytes);
      const field = parameters.cut === 'last' ? fields.at(-1) : fields[1 - seen];
      seen += fields.length;
      if (field === undefined) return send(bytes, done);
      isCut = true;
      const half = bytes.subarray(0, middleOfData(bytes, field));
      const id = [...half.toString().matchAll(/^id: (\d+)$/gm)].at(-1)?.[1];
      if (id !== undefined) cutEvents.set(request.raw, id);
      const before = bytes.lastIndexOf('\n\n', field);
      const start = before === -1 ? 0 : before + 2;
      const more = parameters.cut === 'after-no-id' ? [withoutId] : [];
      const sent = Buffer.concat([half.subarray(0, start), ...more, half.subarray(start)]);
      send(sent, () => endConnection(request.raw.socket));
    });
  },
});

const dataField = '\ndata: ';

function placesOf(part: string, bytes: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(part); at !== -1; at = bytes.indexOf(part, at + 1)) places.push(at);
  return places;
}

/** The middle of the data of an event. */
function middleOfData(bytes: Buffer, field: number): number {
  const start = field + dataField.length;
  return start + Math.floor((bytes.indexOf('\n', start) - start) / 2);
}

/** The time between two pieces, so that a client reads them one by one. */
const pauseMs = 5;
/** For one write of the stream. A long backlog is sent in larger pieces. */
const maxPieces = 40;

const lineForm = choice(
  ['lf', 'crlf', 'data-lines'],
  'The form of the lines. `lf`: as usual. `crlf`: lines end with CR and LF. `data-lines`: the JSON of an event has several lines of `data`.',
);

const withLineForm: Readonly<Record<(typeof lineForm)['enum'][number], (text: string) => string>> = {
  lf: (text) => text,
  crlf: (text) => text.replaceAll('\n', '\r\n'),
  'data-lines': (text) => text.replaceAll(/^data: \{(.*)\}$/gm, 'data: {\ndata: $1\ndata: }'),
};

export const streamPieces = fault({
  name: 'stream-pieces',
  parameters: { lineForm },
  ...onStreams,
  group: 'Streams',
  level: 'required',
  does: 'Sends a stream in small pieces, split in the middle of UTF-8 characters, before line ends, and between the two line ends after an event.',
  goodClient:
    'Joins the pieces before it decodes UTF-8 and splits lines. Accepts all line ends, and joins the lines of `data`. It gets the same events.',
  whyItMatters:
    'Clients treat a piece as an event, or decode each piece separately. This works on one machine, and breaks behind the first proxy or with the first long event. The clients of hey-api found no event in a stream with CR and LF, and eventsource-parser split an event between them.',
  perform: ({ reply: { raw: response }, reply, parameters }) => {
    let isEnding = false;
    let before: Promise<void> = Promise.resolve();
    interceptWrites(reply, (bytes, sent, send) => {
      const write = async () => {
        const text = withLineForm[parameters.lineForm](bytes.toString());
        for (const piece of piecesOf(Buffer.from(text))) {
          await new Promise<void>((taken) => send(piece, taken));
          if (!isEnding) await sleep(pauseMs);
        }
        sent();
      };
      before = before.then(write);
    });
    // The waiting pieces are sent first, without pauses.
    response.end = () => {
      isEnding = true;
      Reflect.deleteProperty(response, 'end');
      void before.then(() => response.end());
      return response;
    };
  },
});

/** Cuts bytes within characters and before line ends, into `maxPieces` at most. */
export function piecesOf(bytes: Buffer): Buffer[] {
  const cuts: number[] = [];
  for (let at = 1; at < bytes.length; at++)
    if (isLineEnd(bytes, at) || isInCharacter(bytes, at)) cuts.push(at);
  const step = Math.ceil((cuts.length + 1) / maxPieces);
  const ends = [...cuts.filter((_, index) => index % step === step - 1), bytes.length];
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const isLineEnd = (bytes: Buffer, at: number) => bytes[at] === 0x0a;
/** Whether a byte is the second one of a character. */
const isInCharacter = (bytes: Buffer, at: number) => (bytes[at - 1] ?? 0) >= 0xc0;

export const streamSilent = fault({
  name: 'stream-silent',
  parameters: {
    streamSilenceMs: integer(
      { minimum: 1, maximum: 600_000, default: 50_000 },
      `How long the stream is silent, in milliseconds. ${maxDelayedNote}`,
    ),
  },
  isSilent: true,
  needsDirectConnection: true,
  ...onStreams,
  undescribed: ['body'],
  group: 'Streams',
  level: 'recommended',
  does: 'Sends the headers of a stream, and then nothing: no event, and none of the comments that normally come every 15 seconds. After the silence it resets the connection (RST).',
  goodClient: 'Closes a stream after 40 seconds of silence, and opens it again after its last event.',
  whyItMatters: 'A connection that broke silently looks like an idle one: clients wait on it for hours.',
  perform: ({ request, reply, parameters, services }) => {
    const { raw: response } = reply;
    interceptWrites(reply, (_, sent) => {
      response.flushHeaders();
      sent();
    });
    const wait = (released: AbortSignal) => waitUnlessReleased(parameters.streamSilenceMs, released);
    void services.delayQueue.hold(request, reply, wait).then(() => {
      if (!response.writableEnded) resetConnection(request.raw.socket);
    });
  },
});

/** The position after which a request continues a stream. None for a start with the first event. */
const positionOf = ({ headers, url }: FastifyRequest) =>
  [headers['last-event-id'], new URLSearchParams(url.split('?')[1]).get('after')].find(
    (position) => position && position !== '0',
  );

export const streamExpired = fault({
  name: 'stream-expired',
  ...onStreams,
  canTouch: (request) => onStreams.canTouch(request) && positionOf(request) !== undefined,
  follows: streamCut.name,
  errors: ['events_expired'],
  mayEnd: true,
  shows: 'fewer events',
  group: 'Streams',
  level: 'recommended',
  does: 'Returns 410 `events_expired` for a stream that continues after a position, as if the next events were no longer stored. `grade` cuts the stream before, like `stream-cut`.',
  goodClient:
    'Reads the lists again, because it missed changes, and then opens the stream without the old position. Or stops and reports the gap.',
  whyItMatters:
    'Clients open the stream again without a position, as if nothing had happened, and their data stays wrong. The Kubernetes client of fabric8 continued its watches like this after 410.',
  perform: ({ request, operation: { success }, services }) => {
    const isListOf = (schema: unknown) =>
      (schema as { items?: unknown } | undefined)?.items === success.event;
    const list = services.api.operations.find((other) => isListOf(other.success.schema));
    throw new ApiError(
      'events_expired',
      `The events after ${positionOf(request)} are no longer stored. Read the lists again.`,
      list && { Link: `<${services.baseUrl}${list.path}>; rel="first"` },
    );
  },
});
