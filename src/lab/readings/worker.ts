import type { Worker } from 'node:worker_threads';
import type { Row } from '../../db/sql.ts';
import { startThread } from '../../foundation/process.ts';

/** A report, an HTTP Archive or a page of the first `requests` requests of a recording. */
export type ReadingTask = {
  workspaceId: number;
  recordingId: string;
  requests: number;
  /** When the recording began, in milliseconds since 1970. */
  beganAtMs: number;
} & (
  | { kind: 'report' }
  /** `url`: the address of the first archive. */
  | { kind: 'archive'; after: number; url: string }
  | { kind: 'page'; after: number; limit: number }
);

/** The JSON text of a reading. `next`: more requests follow after this number. */
export interface ReadingResult {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
  next?: number;
}

/** Requests of a recording, from `after` + 1 to `upTo`, and which of their columns to read. */
export interface Slice {
  workspaceId: number;
  recordingId: string;
  columns: 'times' | 'facts' | 'all';
  after: number;
  upTo: number;
}

/** Reads the first rows of a slice, in the order of numbers; none if it is empty. */
export type ReadRows = (slice: Slice) => Promise<Row[]>;

/** Messages to the thread: a task, with a flag that is 1 once the task is cancelled, or the rows of a slice. */
export type ToThread = { task: ReadingTask; flag: Int32Array } | { rows: Row[] };

/** Messages from the thread: the slice that it needs, and at the end the reading, or the error as text. */
export type FromThread = { slice: Slice } | { reading: ReadingResult } | { failure: string };

/** The time of a reading and the memory of the thread: many times what a full recording needs on a slow machine. */
export const workerBounds = { limitMs: 60_000, maxMiB: 512 };

/** The part of `ReadingWorker` that its users need. */
export type WorkerOfReadings = Pick<ReadingWorker, 'make' | 'close'>;

/** A thread that makes readings. It starts with the first reading, and again after it ended. */
export class ReadingWorker {
  readonly #thread: URL;
  readonly #bounds: typeof workerBounds;
  #worker: Worker | undefined;

  /** `thread`: the module that the thread runs. */
  constructor(thread: URL, bounds = workerBounds) {
    this.#thread = thread;
    this.#bounds = bounds;
  }

  /**
   * Makes a reading; one at a time. Rejects with the reason of the signal soon after it aborts, or with the error of `readRows`. Also rejects
   * if the thread ends or the reading exceeds its time limit.
   */
  async make(task: ReadingTask, readRows: ReadRows, signal: AbortSignal): Promise<ReadingResult> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const { limitMs } = this.#bounds;
    const made = Promise.withResolvers<ReadingResult>();
    const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    let reason: unknown;
    const cancel = (why: unknown) => {
      reason ??= why;
      Atomics.store(flag, 0, 1);
    };
    const send = (message: ToThread) => worker.postMessage(message);
    const onAbort = () => cancel(signal.reason);
    const onMessage = async (message: FromThread) => {
      if ('reading' in message) made.resolve(message.reading);
      else if ('failure' in message) made.reject(reason ?? new Error(message.failure));
      else {
        const rows = signal.aborted ? [] : await readRows(message.slice).catch(cancel);
        send({ rows: rows ?? [] });
      }
    };
    const onError = (error: Error) => {
      reason ??= new Error('The thread that reads recordings failed.', { cause: error });
    };
    const onExit = () => made.reject(reason ?? new Error('The thread that reads recordings ended.'));
    const limit = setTimeout(() => {
      cancel(new Error(`Reading a recording took more than ${limitMs} ms.`));
      void worker.terminate();
    }, limitMs);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    signal.addEventListener('abort', onAbort);
    try {
      send({ task, flag });
      return await made.promise;
    } finally {
      clearTimeout(limit);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends the thread, and the reading in it. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = startThread(this.#thread, {
      resourceLimits: { maxOldGenerationSizeMb: this.#bounds.maxMiB },
    });
    worker.unref();
    // Without this listener an error of the thread would end the process. The reading rejects when the thread exits.
    worker.on('error', () => {});
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }
}
