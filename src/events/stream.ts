import type { ServerResponse } from 'node:http';
import type { StreamStart } from '../operation.ts';
import type { Batch, Hub, Watch } from './hub.ts';

/** How often a comment is sent. Readers and proxies are promised one in 15 s, and the time is looked at twice a second. */
const heartbeatMs = 14_000;
/** How long a stream lasts on average, and the part of it by which it is shorter or longer, so that not all readers return at once. */
export const lifetimeMs = 15 * 60_000;
const lifetimeSpread = 0.1;
/** When a reader returns after an end, from and to. */
const [minRetryMs, maxRetryMs] = [2_000, 3_000];
/** How long the rest of a stream that ends may take. */
const endWithinMs = 500;

/**
 * One open stream. It sends what is after its place, at most one batch that the reader has not taken, and then waits for more.
 * Times are those of a clock that never goes back.
 */
export class EventStream {
  readonly #watch: Watch;
  readonly #response: ServerResponse;
  readonly #shown: ((text: string) => string) | undefined;
  readonly #types: ReadonlySet<string> | undefined;
  readonly #endsAtMs: number;
  #after: number;
  #beatAtMs: number;
  /** Whether there may be more than the last read returned. */
  #isWoken = false;
  /** How many pieces the system has not taken yet. It takes no more for a reader that does not read. */
  #untaken = 0;
  #isOver = false;
  #goOn = () => {};

  /** `shown` writes its pieces otherwise for this reader. */
  constructor(
    hub: Hub,
    response: ServerResponse,
    workspaceId: number,
    { after, types }: StreamStart,
    nowMs: number,
    shown?: (text: string) => string,
  ) {
    this.#watch = hub.watch(workspaceId, () => {
      this.#isWoken = true;
      this.#goOn();
    });
    this.#response = response;
    this.#shown = shown;
    this.#types = types && new Set(types);
    this.#after = after;
    this.#beatAtMs = nowMs;
    this.#endsAtMs = nowMs + between(lifetimeMs * (1 - lifetimeSpread), lifetimeMs * (1 + lifetimeSpread));
  }

  /** Sends events until the stream is over. */
  async run(): Promise<void> {
    const [end, leave] = [() => this.end(), () => this.#leave()];
    const { socket } = this.#response.req;
    // A reader that closes its half is nearly always gone. An answer that waits behind others does not see a connection close.
    socket.once('end', end).once('close', leave);
    this.#response.once('close', leave);
    this.#write(`retry: ${Math.round(between(minRetryMs, maxRetryMs))}\n\n`);
    try {
      while (!this.#isOver) {
        this.#isWoken = false;
        // No variable holds the batch, which would stay for as long as its bytes are not taken.
        const isSent = this.#send(await this.#watch.read(this.#after));
        await this.#until(isSent ? () => this.#untaken === 0 : () => this.#isWoken);
      }
    } finally {
      this.end();
      this.#watch.end();
      socket.off('end', end).off('close', leave);
    }
  }

  /** Ends the stream. A slow reader is cut off: what it has not read it gets when it is back. */
  end(): void {
    if (this.#isOver) return;
    const response = this.#response;
    response.end();
    if (this.#untaken > 0)
      setTimeout(() => response.writableFinished || response.destroy(), endWithinMs).unref();
    this.#leave();
  }

  /** Ends a stream that is old enough, and shows that one on which nothing happens is alive. */
  beat(nowMs: number): void {
    if (nowMs >= this.#endsAtMs) this.end();
    else if (nowMs - this.#beatAtMs >= heartbeatMs) {
      this.#beatAtMs = nowMs;
      this.#write(':\n\n');
    }
  }

  #leave(): void {
    this.#isOver = true;
    this.#goOn();
  }

  /** Returns whether there was something to send. */
  #send(batch: Batch | undefined): boolean {
    if (!batch) this.end();
    if (!batch || batch.events.length === 0) return false;
    const { events, bytes, last } = batch;
    this.#after = last;
    const types = this.#types;
    if (!types) {
      this.#write(bytes);
      return true;
    }
    const wanted = events.filter(({ type }) => types.has(type));
    const place = wanted.at(-1)?.id === last ? '' : `id: ${last}\n\n`;
    this.#write(wanted.map(({ text }) => text).join('') + place);
    return true;
  }

  #write(text: string | Buffer): void {
    // The connection may be closing.
    if (this.#isOver || this.#response.destroyed) return;
    this.#untaken++;
    this.#response.write(this.#shown?.(String(text)) ?? text, () => {
      this.#untaken--;
      this.#goOn();
    });
  }

  /** Waits until something holds, or the stream is over. */
  async #until(holds: () => boolean): Promise<void> {
    while (!this.#isOver && !holds()) {
      await new Promise<void>((resolve) => {
        this.#goOn = resolve;
      });
    }
  }
}

const between = (least: number, most: number) => least + Math.random() * (most - least);
