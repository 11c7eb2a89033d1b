import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../foundation/errors.ts';

/** The number of look-ups in a turn, and the pause before the next turn. */
const turnSize = 10;
const turnMs = 10;
const maxWaiting = 200;

/**
 * Protects the storage from clients that guess keys. An address may have as many look-ups in flight as it has requests left in its limit for
 * requests without a valid key. Further look-ups of all addresses share a queue of a thousand a second.
 */
export class LookupThrottle {
  /** By address. */
  readonly #underWay = new Map<string, number>();
  readonly #waiting: (() => Promise<void>)[] = [];
  #turn: Promise<void> | undefined;

  /** Looks up at once, or queues. `room`: the requests that the address has left. Throws `rate_limited` if the queue is full. */
  async run<T>(address: string, room: number, lookUp: () => Promise<T>): Promise<T> {
    const underWay = this.#underWay.get(address) ?? 0;
    if (underWay >= room) return this.#inTurn(room, lookUp);
    this.#underWay.set(address, underWay + 1);
    try {
      return await lookUp();
    } finally {
      if (this.#underWay.get(address) === 1) this.#underWay.delete(address);
      else this.#underWay.set(address, (this.#underWay.get(address) as number) - 1);
    }
  }

  async #inTurn<T>(room: number, lookUp: () => Promise<T>): Promise<T> {
    if (this.#waiting.length >= maxWaiting) {
      // The limit of the address may be used up after the requests in flight. So this one waits for a turn before it is charged.
      if (room > 0) await this.#turn;
      throw new ApiError(
        'rate_limited',
        'Too many requests with unknown keys come from this address. Try again shortly.',
        { 'Retry-After': '1' },
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => lookUp().then(resolve, reject));
      if (!this.#turn) void this.#takeTurns();
    });
  }

  async #takeTurns(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lookUps = this.#waiting.splice(0, turnSize);
      this.#turn = Promise.all(lookUps.map((lookUp) => lookUp())).then(() => sleep(turnMs));
      await this.#turn;
    }
    this.#turn = undefined;
  }
}
