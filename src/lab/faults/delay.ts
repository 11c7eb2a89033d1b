import { assertNotRevoked, type Caller } from '../../access/keys/store.ts';
import { maxDelayMs, maxDelayPassedOnMs } from '../lab-bounds.ts';
import { onDisconnect } from './shared/connection-faults.ts';
import { maxDelayedNote, waitUnlessReleased } from './shared/delay-queue.ts';
import { fault, integer } from './shared/fault.ts';

export const delay = fault({
  name: 'delay',
  parameters: {
    delayMs: integer(
      { minimum: 1, maximum: maxDelayMs, default: 1_000 },
      `The delay in milliseconds, at most ${maxDelayPassedOnMs} for a request through a proxy. ${maxDelayedNote}`,
    ),
  },
  actsAfterValidation: true,
  group: 'Late responses, other writers',
  level: 'required',
  does: 'Waits before it processes the request. The request takes effect even if the client disconnects during the wait, but not if its key is revoked. Invalid requests get their error at once.',
  goodClient:
    'Has a timeout that is longer than usual response times, but no longer than its user would wait.',
  whyItMatters:
    'A client gives up and sends its POST again without an `Idempotency-Key`: both take effect. A client without a timeout hangs with the service.',
  perform: ({ request, reply, operation, parameters, services, claim, cutOff }) => {
    const ms = Math.min(parameters.delayMs, services.isPassedOn(request) ? maxDelayPassedOnMs : maxDelayMs);
    return {
      prepare: async () => {
        if (!(await claim())) return;
        const stopWatching = onDisconnect(reply, cutOff);
        await services.delayQueue.hold(request, reply, (released) => waitUnlessReleased(ms, released));
        await assertNotRevoked(services.db.read, request.caller as Caller);
        // A stream detects a disconnect by itself.
        if (operation.success.kind === 'stream') stopWatching();
      },
    };
  },
});
