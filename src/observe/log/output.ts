import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Maximum characters that wait for a slow reader: some seconds of a busy service. */
export const maxWaiting = 4 * 1024 * 1024;
/** How long lines wait for others to be written with. */
const togetherMs = 5;
const longestPauseMs = 100;
/** How long the process waits at its end for a reader that reads nothing, and for a slow reader. */
const flushWithinMs = 1_000;
const flushSlowlyWithinMs = 5_000;
const flushPauseMs = 10;

/**
 * Writes lines to a file descriptor in the background, so that a slow, stopped or missing reader does not block the
 * service. The lines of a few milliseconds are written together, because a write costs more than making a line. The buffer
 * is bounded: lines that do not fit or cannot be written are dropped and counted. A pipe must be non-blocking, as Node.js
 * makes the pipe of `process.stdout`.
 */
export class LogOutput implements DestinationStream {
  dropped = 0;
  /** Called with how many lines were dropped, once something can be written again. */
  onReadAgain: (dropped: number) => void = () => {};
  readonly #fd: number;
  #waiting = '';
  /** The rest of the text that is being written. */
  #chunk = Buffer.alloc(0);
  #isWriting = false;
  #isDue = false;
  #pauseMs = 0;
  #reported = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    if (this.#waiting.length + this.#chunk.length + line.length > maxWaiting) {
      this.dropped++;
      return;
    }
    this.#waiting += line;
    if (!this.#isWriting && !this.#isDue) this.#gather();
  }

  /** Writes the waiting lines before the process ends, while the reader keeps reading. */
  flush(): void {
    const startMs = performance.now();
    let readMs = startMs;
    const isInTime = (nowMs: number) =>
      nowMs < Math.min(readMs + flushWithinMs, startMs + flushSlowlyWithinMs);
    // What the system is writing at this moment must not be written twice.
    let rest = this.#isWriting ? this.#take() : Buffer.concat([this.#chunk, this.#take()]);
    while (rest.length > 0 && isInTime(performance.now())) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest));
        readMs = performance.now();
      } catch (error) {
        if (!isFull(error)) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, flushPauseMs);
      }
    }
  }

  /** Keeps the process alive: at its end a write to a paused terminal would never return. */
  #gather(): void {
    this.#isDue = true;
    setTimeout(this.#goOn, togetherMs);
  }

  readonly #goOn = () => {
    this.#isDue = false;
    this.#writeNext();
  };

  #writeNext(): void {
    if (this.#chunk.length === 0) this.#chunk = this.#take();
    this.#isWriting = this.#chunk.length > 0;
    if (this.#isWriting) write(this.#fd, this.#chunk, (error, written) => this.#written(error, written));
  }

  #take(): Buffer<ArrayBuffer> {
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    return bytes;
  }

  #written(error: NodeJS.ErrnoException | null, written: number): void {
    if (error) {
      if (!isFull(error)) this.#drop();
      this.#pause();
      return;
    }
    this.#pauseMs = 0;
    this.#chunk = this.#chunk.subarray(written);
    if (this.#chunk.length > 0) {
      this.#writeNext();
      return;
    }
    this.#isWriting = false;
    if (this.#waiting !== '') this.#gather();
    if (this.dropped > this.#reported) this.#reportDropped();
  }

  #pause(): void {
    this.#isWriting = false;
    this.#isDue = true;
    this.#pauseMs = Math.min(this.#pauseMs * 2 || 1, longestPauseMs);
    // A log that nobody reads must not keep the process alive.
    setTimeout(this.#goOn, this.#pauseMs).unref();
  }

  /** Drops only what could not be written. Later lines may succeed, once a full disk has room or a named pipe has a reader. */
  #drop(): void {
    for (let at = this.#chunk.indexOf('\n'); at !== -1; at = this.#chunk.indexOf('\n', at + 1))
      this.dropped++;
    this.#chunk = Buffer.alloc(0);
  }

  #reportDropped(): void {
    const dropped = this.dropped - this.#reported;
    this.#reported = this.dropped;
    this.onReadAgain(dropped);
  }
}

/** Whether the reader has not taken what was written before. */
const isFull = (error: unknown) => (error as NodeJS.ErrnoException).code === 'EAGAIN';
