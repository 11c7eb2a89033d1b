import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../keys/store.ts';
import { maxHeldBack } from '../bounds.ts';

interface Held {
  keyId: string;
  release: AbortController;
}

/**
 * Answers that faults hold back. One is let go before its time when its client leaves, when the instance stops, and, the oldest first,
 * when there are too many of its key.
 */
export class HeldBack {
  /** In the order in which they came. */
  readonly #all = new Set<Held>();
  #isStopped = false;

  /** Runs `hold`, which ends soon once its signal is aborted. */
  async during(
    request: FastifyRequest,
    { raw: response }: FastifyReply,
    hold: (released: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const { keyId } = request.caller as Caller;
    const held = { keyId, release: new AbortController() };
    const release = () => held.release.abort();
    if (this.#isStopped || request.raw.socket.destroyed) release();
    this.#all.add(held);
    this.#bound(keyId);
    response.once('close', release);
    try {
      await hold(held.release.signal);
    } finally {
      response.off('close', release);
      this.#all.delete(held);
    }
  }

  #bound(keyId: string): void {
    const [oldest, ...others] = [...this.#all].filter((held) => held.keyId === keyId);
    if (!oldest || others.length < maxHeldBack) return;
    this.#all.delete(oldest);
    oldest.release.abort();
  }

  /** Lets all go, and whatever comes later at once. */
  stop(): void {
    this.#isStopped = true;
    for (const { release } of this.#all) release.abort();
  }
}
