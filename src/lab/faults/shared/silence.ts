import { disconnected, resetConnection } from '../../../http/connections.ts';
import { maxDelayed, maxDelayMs } from '../../lab-bounds.ts';
import { waitUnlessReleased } from './delay-queue.ts';
import { type FaultInvocation, integer } from './fault.ts';

export const silenceMs = integer(
  { minimum: 1, maximum: maxDelayMs, default: maxDelayMs },
  `The length of the silence in milliseconds. At most ${maxDelayed} requests of a key wait. One more ends the silence of the oldest: its connection is reset.`,
);

/** Sends nothing for this time, or until the client disconnects, and then resets the connection. */
export async function resetAfterSilence(
  { request, reply, services, cutOff }: Pick<FaultInvocation, 'request' | 'reply' | 'services' | 'cutOff'>,
  ms: number,
): Promise<void> {
  await services.delayQueue.hold(request, reply, (released) =>
    waitUnlessReleased(ms, AbortSignal.any([released, disconnected(request, reply)])),
  );
  cutOff();
  resetConnection(request.raw.socket);
}
