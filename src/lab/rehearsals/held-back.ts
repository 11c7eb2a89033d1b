import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../keys/store.ts';
import { maxHeldBack } from '../bounds.ts';

/**
 * Answers that faults hold back. One is let go before its time when its client leaves, when the instance stops, and, the oldest first,
 * when there are too many of its key.
 */
export class HeldBack {
  /** What releases those of each key, in the order in which they came. */
  readonly #ofKeys = new Map<string, Set<AbortController>>();
  #isStopped = false;

  /** Runs `hold`, which ends soon once its signal is aborted. */
  async during(
    request: FastifyRequest,
    { raw: response }: FastifyReply,
    hold: (released: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const { keyId } = request.caller as Caller;
    const held = new AbortController();
    const release = () => held.abort();
    if (this.#isStopped || request.raw.socket.destroyed) release();
    this.#add(keyId, held);
    response.once('close', release);
    try {
      await hold(held.signal);
    } finally {
      response.off('close', release);
      this.#remove(keyId, held);
    }
  }

  /** Lets the oldest of the key go if that makes one too many. */
  #add(keyId: string, held: AbortController): void {
    const ofKey = this.#ofKeys.get(keyId) ?? new Set();
    this.#ofKeys.set(keyId, ofKey.add(held));
    const [oldest] = ofKey;
    if (!oldest || ofKey.size <= maxHeldBack) return;
    ofKey.delete(oldest);
    oldest.abort();
  }

  #remove(keyId: string, held: AbortController): void {
    const ofKey = this.#ofKeys.get(keyId);
    ofKey?.delete(held);
    if (ofKey?.size === 0) this.#ofKeys.delete(keyId);
  }

  /** Lets all go, and whatever comes later at once. */
  stop(): void {
    this.#isStopped = true;
    for (const ofKey of this.#ofKeys.values()) for (const held of ofKey) held.abort();
  }
}
