/** A resource as it is answered. */
export type State = Record<string, unknown>;

export interface Write {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: State;
  idempotencyKey?: string;
  /** Errors that other clients may cause. */
  refusals?: string[];
}

/** The number at the end of a path. */
export const idOf = (path: string) => Number(/\d+$/.exec(path)?.[0]);
