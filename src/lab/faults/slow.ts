import type { FastifyReply } from 'fastify';
import { maxDelayMs } from '../lab-bounds.ts';
import { delivering, onBodies } from './shared/connection-faults.ts';
import { maxDelayedNote, waitUnlessReleased } from './shared/delay-queue.ts';
import { fault, integer } from './shared/fault.ts';

/** The time between two pieces of a slow response. */
const pieceMs = 50;

export const slow = fault({
  name: 'slow',
  parameters: {
    bytesPerSecond: integer(
      { minimum: 1, maximum: 1_000_000, default: 100 },
      `How many bytes of the body are sent per second. The service sends more if the response would take longer than ${maxDelayMs / 1000} s. ${maxDelayedNote}`,
    ),
  },
  ...onBodies,
  group: 'Late responses, other writers',
  level: 'required',
  does: 'Sends the status and headers at once, and the body in small pieces.',
  goodClient: 'Keeps reading while data arrives, and gives up after its own timeout.',
  whyItMatters:
    'Clients with a timeout for each read but none for the whole response hang for minutes. Others give up on a response that is still arriving.',
  perform: (invocation) =>
    delivering(invocation, (body) => {
      const { request, reply, parameters, services } = invocation;
      const ms = Math.min((body.length / parameters.bytesPerSecond) * 1000, maxDelayMs);
      void services.delayQueue.hold(request, reply, (released) =>
        sendInPieces(reply.raw, body, ms, released),
      );
    }),
});

/** Sends a body in pieces over `ms`. When it is released, the rest follows at once. */
async function sendInPieces(
  response: FastifyReply['raw'],
  body: Buffer,
  ms: number,
  released: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  let sent = 0;
  response.flushHeaders();
  for (;;) {
    await waitUnlessReleased(pieceMs, released);
    const share = (performance.now() - startMs) / ms;
    if (share >= 1 || released.aborted) break;
    const due = Math.floor(body.length * share);
    // Does not buffer for a client that does not read.
    if (due === sent || response.writableNeedDrain) continue;
    response.write(body.subarray(sent, due));
    sent = due;
  }
  response.end(body.subarray(sent));
}
