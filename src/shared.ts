/**
 * `make`, whose answer is shared by everybody who asks while it is made and until `ms` after its making began, a failure
 * too. `nowMs` is a clock that never goes back.
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
