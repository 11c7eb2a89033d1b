import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../../access/keys/store.ts';
import { maxDelayed } from '../../lab-bounds.ts';

/** For the descriptions of parameters of faults that delay responses. */
export const maxDelayedNote = `At most ${maxDelayed} requests of a key wait. One more ends the wait of the oldest.`;

/** Delays responses until the client disconnects, the instance stops, or the key has too many (the oldest first). */
export class DelayQueue {
  /** Releases the delayed responses of each key, oldest first. */
  readonly #ofKeys = new Map<string, Set<AbortController>>();
  #isStopped = false;

  /** Runs `wait`, which must end soon after its signal is aborted. */
  async hold(
    request: FastifyRequest,
    { raw: response }: FastifyReply,
    wait: (released: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const { keyId } = request.caller as Caller;
    const delayed = new AbortController();
    const release = () => delayed.abort();
    if (this.#isStopped || request.raw.socket.destroyed) release();
    this.#add(keyId, delayed);
    response.once('close', release);
    try {
      await wait(delayed.signal);
    } finally {
      response.off('close', release);
      this.#remove(keyId, delayed);
    }
  }

  #add(keyId: string, delayed: AbortController): void {
    const ofKey = this.#ofKeys.get(keyId) ?? new Set();
    this.#ofKeys.set(keyId, ofKey.add(delayed));
    const [oldest] = ofKey;
    if (!oldest || ofKey.size <= maxDelayed) return;
    ofKey.delete(oldest);
    oldest.abort();
  }

  #remove(keyId: string, delayed: AbortController): void {
    const ofKey = this.#ofKeys.get(keyId);
    ofKey?.delete(delayed);
    if (ofKey?.size === 0) this.#ofKeys.delete(keyId);
  }

  /** Releases all responses, and delays none from now on. */
  stop(): void {
    this.#isStopped = true;
    for (const ofKey of this.#ofKeys.values()) for (const delayed of ofKey) delayed.abort();
  }
}

/** Waits until the time is over, or until the signal is aborted. */
export const waitUnlessReleased = (ms: number, released: AbortSignal) =>
  sleep(ms, undefined, { signal: released }).catch(() => {});
