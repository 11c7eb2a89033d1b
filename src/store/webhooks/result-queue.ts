/** The maximum number of first attempts of a webhook that are not on disk. After a crash they are repeated. */
export const maxUnrecorded = 100;

/**
 * Results that wait to be written, in order. Results that arrive during a commit share the next one. `write` resolves to whether they are
 * on disk. If not, the queue stops.
 */
export class ResultQueue<Result> {
  readonly #write: (results: Result[]) => Promise<boolean>;
  readonly #results: Result[] = [];
  #writing: Promise<void> | undefined;

  constructor(write: (results: Result[]) => Promise<boolean>) {
    this.#write = write;
  }

  add(result: Result): void {
    this.#results.push(result);
    this.#writing ??= this.#writeAll();
  }

  /** The number of results that may be added. */
  get room(): number {
    return maxUnrecorded - this.#results.length;
  }

  /** The first result that is not on disk. */
  get first(): Result | undefined {
    return this.#results[0];
  }

  /** Resolves once nothing is being written. */
  async flushed(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#results.length > 0) {
        const results = [...this.#results];
        if (!(await this.#write(results))) return;
        this.#results.splice(0, results.length);
      }
    } finally {
      this.#writing = undefined;
    }
  }
}
