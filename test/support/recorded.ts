import { hash } from 'node:crypto';
import { fingerprintOf } from '../../src/lab/recordings/link-attempts.ts';
import type { Recorded } from '../../src/lab/recordings/recorded-request.ts';
import { largeNumbersIn } from '../../src/lab/recordings/serialize-request.ts';

/** The start of recordings in tests. */
export const startMs = Date.parse('2026-06-01T12:00:00Z');

export type Sketch = Partial<Omit<Recorded, 'atMs' | 'fingerprint' | 'id'>> & {
  /** Milliseconds after the start. */
  at: number;
};

/**
 * Requests as in a recording, in order. Default: a GET of `/v1/pets` that took 1 ms, got 200, and used the
 * only connection.
 */
export const recorded = (...sketches: Sketch[]): Recorded[] =>
  sketches.map(({ at, ...given }, index) => {
    const request = {
      requestId: `request ${index + 1}`,
      durationMs: 1,
      method: 'GET',
      target: '/v1/pets',
      operation: 'listPets',
      headers: {},
      status: 200,
      answerHeaders: {},
      connection: 'c1',
      ...given,
    };
    const { method, target, body = '' } = request;
    const largeNumbers = largeNumbersIn(body);
    return {
      ...request,
      largeNumbers,
      id: String(index + 1),
      atMs: startMs + at,
      fingerprint: fingerprintOf(hash('sha256', `${method} ${target}`), hash('sha256', body)),
    };
  });
