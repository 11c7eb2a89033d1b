/** Memoizes `make` for `ms` from its start, and while it runs. A failure is also shared. `nowMs` never goes back. */
export function memoizeFor<T>(ms: number, make: () => Promise<T>, nowMs: () => number): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let isMade = false;
  let staleAtMs = 0;
  return () => {
    if (answer && (!isMade || nowMs() < staleAtMs)) return answer;
    isMade = false;
    staleAtMs = nowMs() + ms;
    answer = make().finally(() => {
      isMade = true;
    });
    return answer;
  };
}

/** Memoizes `make`. Calls it again after a failure. */
export function memoize<Made>(make: () => Made | Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= (async () => make())().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Runs `work`, one run at a time. A call during a run makes another run follow. Resolves when no run is left. `work` must not call it. */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let mustRun = false;
  const run = async () => {
    try {
      while (mustRun) {
        mustRun = false;
        await work();
      }
    } finally {
      running = undefined;
    }
  };
  return () => {
    mustRun = true;
    running ??= run();
    return running;
  };
}

/** Resolves with `promise`, or rejects with an error after `ms`. */
export function withTimeout<T>(ms: number, promise: Promise<T>, timeoutError: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // If this process was busy, the answer may have arrived unread. Sockets are read before setImmediate.
    const timer = setTimeout(() => setImmediate(() => reject(timeoutError())), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Calls `work`, `ms` after each call ends, until the returned function is called. `failed` gets the error of a call. */
export function repeat(ms: number, work: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const wait = () => {
    if (!isOver) timer = setTimeout(() => work().catch(failed).then(wait), ms).unref();
  };
  wait();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
