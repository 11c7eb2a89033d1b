import { PetstoreError } from './error.ts';
import type { CallOptions, ChangeOptions } from './options.ts';

/** How often a change is decided on before it gives up, as others change the same all the time. */
const mostRounds = 10;

/**
 * Decides on what to change by what is there now. What it gives is sent, and if somebody else was faster, it is asked again with what is
 * there then. With `undefined` nothing is changed.
 */
export type Decide<Resource, Change> = (
  current: Resource,
) => Change | undefined | PromiseLike<Change | undefined>;

/**
 * Reads a resource, lets `decide` say what to change, and changes the very state that was read. Returns what is there in the end.
 */
export async function change<Resource extends object, Change>(
  read: () => Promise<Resource>,
  decide: Decide<Resource, Change>,
  write: (body: Change, options: ChangeOptions) => Promise<Resource>,
  options: CallOptions,
): Promise<Resource> {
  for (let round = 1; ; round++) {
    const current = await read();
    const body = await decide(current);
    if (body === undefined) return current;
    try {
      return await write(body, { ...options, ifMatch: current });
    } catch (error) {
      const isOutdated = error instanceof PetstoreError && error.code === 'precondition_failed';
      if (!isOutdated || round === mostRounds) throw error;
    }
  }
}
