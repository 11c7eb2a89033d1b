/** What came with a body. */
export interface Answer {
  status: number;
  headers: Headers;
  /** Names the state of the resource. */
  etag: string | undefined;
  /** `X-Request-Id`, by which the log of the service names the request. */
  requestId: string | undefined;
}

const answers = new WeakMap<object, Answer>();

/** What a body came with: status, header fields, ETag. Undefined for an object that no call has given, also for a copy of one. */
export const answerOf = (given: object): Answer | undefined => answers.get(given);

/** Keeps what a body came with, for as long as the body is there. */
export function remember<T>(body: T, { status, headers }: Pick<Answer, 'status' | 'headers'>): T {
  const field = (name: string) => headers.get(name) ?? undefined;
  if (typeof body === 'object' && body !== null)
    answers.set(body, { status, headers, etag: field('etag'), requestId: field('x-request-id') });
  return body;
}

/**
 * The ETag that an earlier call gave.
 *
 * @throws TypeError if there is none.
 */
export function etagOf(given: object | string): string {
  const etag = typeof given === 'string' ? given : answerOf(given)?.etag;
  if (etag === undefined)
    throw new TypeError(
      'It has no ETag: use what a call of this client gave, not a copy, and of lists a page or a single item.',
    );
  return etag;
}
