/** Upper bounds of durations, in seconds. */
export const durationBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Counts values by their size. It only adds to numbers, so that each request can afford it. */
export class Histogram {
  /** The largest value of each bucket, in growing order. One more bucket has the values above. */
  readonly bounds: readonly number[];
  /** How many values each bucket has, without those of smaller buckets. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    this.sum += value;
    let bucket = 0;
    while (value > (this.bounds[bucket] as number)) bucket++;
    (this.counts[bucket] as number)++;
  }

  /** Observes the time since `startMs` of `performance.now()`, in seconds. */
  observeSince(startMs: number): void {
    this.observe((performance.now() - startMs) / 1_000);
  }
}
