import { assertNotRevoked, type Caller } from '../../keys/store.ts';
import { maxDelayMs, maxDelayPassedOnMs } from '../lab-bounds.ts';
import { onDisconnect } from './shared/connection-faults.ts';
import { maxDelayedNote, waitUnlessReleased } from './shared/delay-queue.ts';
import { fault, integer } from './shared/fault.ts';

export const delay = fault({
  name: 'delay',
  parameters: {
    delayMs: integer(
      { minimum: 1, maximum: maxDelayMs, default: 1_000 },
      `How long, in milliseconds; at most ${maxDelayPassedOnMs} for a request that a proxy has passed on. ${maxDelayedNote}`,
    ),
  },
  actsAfterValidation: true,
  group: 'Late answers, other writers',
  level: 'required',
  does: 'Waits before it does what was asked, which is done even if the client leaves meanwhile, but not if its key is revoked. What is invalid is refused at once.',
  goodClient: 'Waits longer than answers usually take, and no longer than its user would.',
  consequence:
    'A client gives up and sends its POST again without an `Idempotency-Key`: both are done. One without a time limit hangs with the service.',
  perform: ({ request, reply, operation, parameters, services, claim, cutOff }) => {
    const ms = Math.min(parameters.delayMs, services.isPassedOn(request) ? maxDelayPassedOnMs : maxDelayMs);
    return {
      prepare: async () => {
        if (!(await claim())) return;
        const stopWatching = onDisconnect(reply, cutOff);
        await services.delayQueue.hold(request, reply, (released) => waitUnlessReleased(ms, released));
        await assertNotRevoked(services.db.read, request.caller as Caller);
        // A stream notices itself when its reader disconnects.
        if (operation.success.kind === 'stream') stopWatching();
      },
    };
  },
});
