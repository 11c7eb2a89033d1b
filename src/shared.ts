/**
 * `make`, with its result shared: all who call until `ms` after it was started, or while it runs, get the same result, also
 * a failure. `nowMs` is a clock that never goes back.
 */
export function sharedFor<T>(ms: number, make: () => Promise<T>, nowMs: () => number): () => Promise<T> {
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
