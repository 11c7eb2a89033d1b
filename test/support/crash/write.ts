import type { State } from '../history.ts';

export interface Write {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: State;
  idempotencyKey?: string;
  /** X-Request-Id, set when it is sent. */
  requestId?: string;
  /** Errors that other clients may cause. */
  refusals?: string[];
}

/** The number at the end of a path. */
export const idOf = (path: string) => Number(/\d+$/.exec(path)?.[0]);
