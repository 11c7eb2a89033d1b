import { setTimeout as sleep } from 'node:timers/promises';
import { endConnection, resetConnection } from '../../http/connections.ts';
import { cutEvents, interceptWrites, onStreams } from './shared/connection-faults.ts';
import { maxDelayedNote, waitUnlessReleased } from './shared/delay-queue.ts';
import { fault, integer } from './shared/fault.ts';

export const streamCut = fault({
  name: 'stream-cut',
  needsDirectConnection: true,
  ...onStreams,
  group: 'Streams',
  level: 'recommended',
  does: 'Closes the connection of a stream in the middle of an event: after its `id` and half of its `data`. This is the first event, or the last one if the stream sends several at once.',
  goodClient: 'Discards the incomplete event, and opens the stream again after the last complete one.',
  whyItMatters:
    'Clients that save the `id` before the event is complete lose this event. Others start again from the first event.',
  perform: ({ request, reply }) => {
    let isCut = false;
    interceptWrites(reply, (bytes, sent, send) => {
      if (isCut) return;
      const end = middleOfLastEvent(bytes);
      isCut = end !== undefined;
      if (!isCut) return send(bytes, sent);
      const half = bytes.subarray(0, end);
      const id = [...half.toString().matchAll(/^id: (\d+)$/gm)].at(-1)?.[1];
      if (id !== undefined) cutEvents.set(request.raw, id);
      send(half, () => endConnection(request.raw.socket));
    });
  },
});

const dataField = '\ndata: ';

/** The middle of the data of the last event; undefined if there is none. */
function middleOfLastEvent(bytes: Buffer): number | undefined {
  const field = bytes.lastIndexOf(dataField);
  if (field === -1) return undefined;
  const start = field + dataField.length;
  return start + Math.floor((bytes.indexOf('\n', start) - start) / 2);
}

/** The time between two pieces, so that a client reads them one by one. */
const pauseMs = 5;
/** For one write of the stream. A long backlog is sent in larger pieces. */
const maxPieces = 40;

export const streamPieces = fault({
  name: 'stream-pieces',
  ...onStreams,
  group: 'Streams',
  level: 'required',
  does: 'Sends a stream in small pieces, split in the middle of UTF-8 characters, before line ends, and between the two line ends after an event.',
  goodClient: 'Joins the pieces before it decodes UTF-8 and splits lines. It gets the same events.',
  whyItMatters:
    'Clients treat a piece as an event, or decode each piece separately. This works on one machine, and breaks behind the first proxy or with the first long event.',
  perform: ({ reply: { raw: response }, reply }) => {
    let isEnding = false;
    let before: Promise<void> = Promise.resolve();
    interceptWrites(reply, (bytes, sent, send) => {
      const write = async () => {
        for (const piece of piecesOf(bytes)) {
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
