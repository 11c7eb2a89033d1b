import type { ServerResponse } from 'node:http';
import type { StreamStart } from '../../http/responses.ts';
import type { EventBatch, EventBroadcaster, Subscription } from './broadcaster.ts';

/** The interval of comments. Readers are promised one in 15 s, and `keepAlive` runs twice a second. */
const commentIntervalMs = 14_000;
/** The average lifetime of a stream. The spread keeps readers from reconnecting all at once. */
export const lifetimeMs = 15 * 60_000;
const lifetimeSpread = 0.1;
/** Bounds of the reconnection time in `retry`. */
const [minRetryMs, maxRetryMs] = [2_000, 3_000];
/** How long a reader may take for the rest of a stream that ends. */
const endTimeoutMs = 500;

/** One open stream: sends the events after its position in batches, at the pace of the reader. Times are monotonic. */
export class EventStream {
  readonly #subscription: Subscription;
  readonly #response: ServerResponse;
  readonly #rewrite: ((text: string) => string) | undefined;
  readonly #types: ReadonlySet<string> | undefined;
  readonly #endsAtMs: number;
  #after: number;
  #isBehind = true;
  #commentAtMs: number;
  /** Whether there may be more than the last read returned. */
  #isWoken = false;
  /** Writes that the system has not accepted yet. It accepts no more for a reader that does not read. */
  #pendingWrites = 0;
  #hasEnded = false;
  #resume = () => {};

  /** `rewrite` changes each written text for this reader. */
  constructor(
    broadcaster: EventBroadcaster,
    response: ServerResponse,
    workspaceId: number,
    { after, types }: StreamStart,
    nowMs: number,
    rewrite?: (text: string) => string,
  ) {
    this.#subscription = broadcaster.subscribe(workspaceId, () => {
      this.#isWoken = true;
      this.#resume();
    });
    this.#response = response;
    this.#rewrite = rewrite;
    this.#types = types && new Set(types);
    this.#after = after;
    this.#commentAtMs = nowMs;
    this.#endsAtMs = nowMs + between(lifetimeMs * (1 - lifetimeSpread), lifetimeMs * (1 + lifetimeSpread));
  }

  /** Sends events until the stream ends. */
  async run(): Promise<void> {
    const [end, leave] = [() => this.end(), () => this.#leave()];
    const { socket } = this.#response.req;
    // A reader that closes its half is nearly always gone. A response that waits behind others does not see a connection close.
    socket.once('end', end).once('close', leave);
    this.#response.once('close', leave);
    // Without a blank line, because some parsers would deliver an event without data. The same holds for comments.
    this.#write(`retry: ${Math.round(between(minRetryMs, maxRetryMs))}\n`);
    try {
      while (!this.#hasEnded) {
        this.#isWoken = false;
        // No variable refers to the batch, so that it can be freed while its bytes wait.
        const isSent = this.#send(await this.#subscription.read(this.#after, this.#isBehind));
        await this.#until(isSent ? () => this.#pendingWrites === 0 : () => this.#isWoken);
      }
    } finally {
      this.end();
      this.#subscription.end();
      socket.off('end', end).off('close', leave);
    }
  }

  /** Ends the stream. A slow reader is cut off, and gets the rest when it reconnects. */
  end(): void {
    if (this.#hasEnded) return;
    const response = this.#response;
    response.end();
    if (this.#pendingWrites > 0)
      setTimeout(() => response.writableFinished || response.destroy(), endTimeoutMs).unref();
    this.#leave();
  }

  /** Ends a stream after its lifetime, and sends a comment when one is due. */
  keepAlive(nowMs: number): void {
    if (nowMs >= this.#endsAtMs) this.end();
    else if (nowMs - this.#commentAtMs >= commentIntervalMs) {
      this.#commentAtMs = nowMs;
      this.#write(':\n');
    }
  }

  #leave(): void {
    this.#hasEnded = true;
    this.#resume();
  }

  /** Sends a batch, or ends the stream if events have expired. Returns whether there was something to send. */
  #send(batch: EventBatch | undefined): boolean {
    if (!batch) this.end();
    this.#isBehind = batch?.hasMore ?? false;
    if (!batch || batch.events.length === 0) return false;
    const { events, bytes, last } = batch;
    const types = this.#types;
    this.#after = last;
    if (types) {
      const wanted = events.filter(({ type }) => types.has(type));
      const position = wanted.at(-1)?.id === last ? '' : `id: ${last}\n\n`;
      this.#write(wanted.map(({ text }) => text).join('') + position);
    } else this.#write(bytes);
    return true;
  }

  #write(text: string | Buffer): void {
    // The connection may be closing.
    if (this.#hasEnded || this.#response.destroyed) return;
    this.#pendingWrites++;
    this.#response.write(this.#rewrite?.(String(text)) ?? text, () => {
      this.#pendingWrites--;
      this.#resume();
    });
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!this.#hasEnded && !condition()) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
      });
    }
  }
}

const between = (least: number, most: number) => least + Math.random() * (most - least);
