import { randomId } from '../../client/platform.ts';

/**
 * The `Idempotency-Key` of an action with this input. It stays the same until `forgetId`, also after a reload: another try gets the
 * answer that was lost.
 */
export function idOf(action: string, input: string): string {
  const [last, known] = JSON.parse(sessionStorage.getItem(action) ?? '[]');
  const id = last === input ? known : randomId();
  sessionStorage.setItem(action, JSON.stringify([input, id]));
  return id;
}

/** The answer is there. */
export const forgetId = (action: string): void => sessionStorage.removeItem(action);
