import { setTimeout as sleep } from 'node:timers/promises';
import { interceptWrites, onStreams } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';

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
