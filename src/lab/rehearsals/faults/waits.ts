import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { assertNotRevoked, type Caller } from '../../../keys/store.ts';
import { maxDelayMs, maxDelayPassedOnMs, maxHeldBack } from '../../bounds.ts';
import { fault } from '../fault.ts';
import { hasBody, insteadOfEnd, surelyHasBody, watchLeaving } from './answers.ts';

/** How long it is from one piece of a slow answer to the next. */
const pieceMs = 50;

const inNumbers = `With more than ${maxHeldBack} requests of a key that wait, the oldest goes on.`;

export const slow = fault({
  name: 'slow',
  parameters: {
    bytesPerSecond: Type.Integer({
      format: 'int32',
      minimum: 1,
      maximum: 1_000_000,
      default: 100,
      description: `How much of the body comes in a second; more, if it would take longer than ${maxDelayMs / 1000} s. ${inNumbers}`,
      examples: [100],
    }),
  },
  fits: hasBody,
  canTouch: surelyHasBody,
  group: 'Late answers, other writers',
  level: 'required',
  does: 'Sends the head of the answer at once, and its body in small pieces.',
  goodClient: 'Reads on while something comes, and gives up after a time of its own.',
  bites:
    'Clients with a time limit for each read, and none for all, hang for minutes; others give up an answer that is on its way.',
  perform: ({ request, reply, parameters, tools, cutOff }) => {
    insteadOfEnd(reply, (body, end) => {
      const ms = Math.min((body.length / parameters.bytesPerSecond) * 1000, maxDelayMs);
      let sent = 0;
      const drip = async (released: AbortSignal) => {
        sent = await sendInPieces(reply.raw, body, ms, released);
      };
      void tools.heldBack.during(request, reply, drip).then(() => end(body.subarray(sent)));
    });
    watchLeaving(reply, cutOff);
    return {};
  },
});

export const delay = fault({
  name: 'delay',
  parameters: {
    delayMs: Type.Integer({
      format: 'int32',
      minimum: 1,
      maximum: maxDelayMs,
      default: 1_000,
      description: `How long, in milliseconds; at most ${maxDelayPassedOnMs} for a request that a proxy has passed on. ${inNumbers}`,
      examples: [1_000],
    }),
  },
  isLate: true,
  fits: () => true,
  group: 'Late answers, other writers',
  level: 'required',
  does: 'Waits before it does what was asked, which is done even if the client leaves meanwhile, but not if its key is revoked. What is invalid is refused at once.',
  goodClient: 'Waits longer than answers usually take, and no longer than its user would.',
  bites:
    'A client gives up and sends its POST again without an `Idempotency-Key`: both are done. One without a time limit hangs with the service.',
  perform: ({ request, reply, operation, parameters, tools, claim, cutOff }) => {
    const ms = Math.min(parameters.delayMs, tools.isPassedOn(request) ? maxDelayPassedOnMs : maxDelayMs);
    return {
      prepare: async () => {
        if (!(await claim())) return;
        const stopWatching = watchLeaving(reply, cutOff);
        await tools.heldBack.during(request, reply, (released) => pause(ms, released));
        await assertNotRevoked(tools.db.read, request.caller as Caller);
        // A stream tells by itself that its reader has left.
        if (operation.success.kind === 'stream') stopWatching();
      },
    };
  },
});

/** Sends a body in pieces so that it would be whole after `ms`. Returns how much was sent by then, or by its release. */
async function sendInPieces(
  response: FastifyReply['raw'],
  body: Buffer,
  ms: number,
  released: AbortSignal,
): Promise<number> {
  const startMs = performance.now();
  let sent = 0;
  response.flushHeaders();
  for (;;) {
    await pause(pieceMs, released);
    const share = (performance.now() - startMs) / ms;
    if (share >= 1 || released.aborted) return sent;
    const due = Math.floor(body.length * share);
    // What a client does not read is not heaped up for it.
    if (due === sent || response.writableNeedDrain) continue;
    response.write(body.subarray(sent, due));
    sent = due;
  }
}

/** Waits, unless it is released. */
const pause = (ms: number, released: AbortSignal) =>
  sleep(ms, undefined, { signal: released }).catch(() => {});
