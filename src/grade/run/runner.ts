import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreState } from '../compare/state.ts';
import { hasMissedMinute, type RunPlan, waitForMinuteMs } from './plan.ts';
import { initialState, type Run, type RunOptions, runOnce } from './run.ts';

interface RunnerOptions extends Pick<RunOptions, 'command' | 'store' | 'result'> {
  env?: NodeJS.ProcessEnv | undefined;
  timeoutMs: number;
  /** The largest number of concurrent runs. Default: two for each processor, besides runs that mostly wait. */
  atOnce?: number | undefined;
  signal?: AbortSignal | undefined;
  onOutput?: ((text: string, run?: string) => void) | undefined;
}

/** Runs a program many times, with several runs at once. */
export class Runner {
  /** The number of runs until now. */
  count = 0;
  /** The state of a workspace before the program runs. */
  initial!: StoreState;
  readonly #options: RunnerOptions;
  readonly #queue: RunQueue;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;

  private constructor(options: RunnerOptions) {
    this.#options = options;
    this.#queue = new RunQueue(options.atOnce ?? 2 * availableParallelism());
    this.#signal = AbortSignal.any([this.#stop.signal, ...(options.signal ? [options.signal] : [])]);
  }

  static async start(options: RunnerOptions): Promise<Runner> {
    const runner = new Runner(options);
    runner.initial = await initialState(options.store, runner.#signal);
    return runner;
  }

  /** Runs the program without faults. */
  runWithoutFaults = (): Promise<Run> => this.#run({});

  /** Runs the program without faults when it is its turn. */
  queueWithoutFaults = (): Promise<Run> => this.#queue.run(() => this.runWithoutFaults());

  /** Runs the program under a fault when it is its turn. `likelyMs`: how long a run without faults takes. */
  async runUnderFault(plan: RunPlan, likelyMs: number, onBegun: () => void): Promise<Run> {
    const { waitsMs, isUntilMinuteEnds, isMostlyWaiting } = plan;
    if (isUntilMinuteEnds)
      await sleep(waitForMinuteMs(Date.now(), likelyMs), undefined, { signal: this.#signal });
    const timeLimitMs = this.#options.timeoutMs + waitsMs;
    const once = () => {
      onBegun();
      return this.#run({ plan, timeLimitMs }, plan.name);
    };
    const isBeside = isMostlyWaiting && this.#options.atOnce === undefined;
    const run = await (isBeside ? once() : this.#queue.run(once, isUntilMinuteEnds));
    return hasMissedMinute(plan, run) ? this.runUnderFault(plan, run.tookMs, onBegun) : run;
  }

  /** Waits for all tasks. If one fails, the others are stopped before this throws its reason. */
  async all<T>(tasks: Promise<T>[]): Promise<T[]> {
    try {
      return await Promise.all(tasks);
    } catch (error) {
      this.#stop.abort(error);
      await Promise.allSettled(tasks);
      // A stopped task may fail with a less useful error.
      throw this.#signal.reason;
    }
  }

  #run(more: Partial<RunOptions>, name?: string): Promise<Run> {
    this.count++;
    const { store, command, result, env = process.env, timeoutMs, onOutput } = this.#options;
    return runOnce({
      ...{ store, command, result, env, initial: this.initial, signal: this.#signal, timeLimitMs: timeoutMs },
      onOutput: (text) => onOutput?.(text, name),
      ...more,
    });
  }
}

/** Limits the number of concurrent tasks. Tasks start in order, but urgent ones first. */
export class RunQueue {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(task: () => Promise<T>, isUrgent = false): Promise<T> {
    if (this.#free > 0) this.#free--;
    else
      await new Promise<void>((resolve) =>
        isUrgent ? this.#waiting.unshift(resolve) : this.#waiting.push(resolve),
      );
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
