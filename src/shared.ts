import { StorageUnavailableError } from './errors.ts';

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

/** The answer of the storage, or a StorageUnavailableError if it does not come within `ms`. */
export async function inTime<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new StorageUnavailableError('It does not answer in time.')), ms);
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
}
