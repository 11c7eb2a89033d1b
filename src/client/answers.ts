/** The status and headers that came with a body. */
export interface Answer {
  status: number;
  headers: Headers;
  /** `ETag`: the version of the resource. */
  etag: string | undefined;
  /** `X-Request-Id`: the id of the request in the log of the service. */
  requestId: string | undefined;
  /** How many attempts it took. */
  attempts: number;
}

const answers = new WeakMap<object, Answer>();

/** The response that a returned object came with. Undefined for other objects, also for copies. */
export const answerOf = (given: object): Answer | undefined => answers.get(given);

/** What came with a body. */
export function answerFrom(received: Pick<Answer, 'status' | 'headers' | 'attempts'>): Answer {
  const { status, headers, attempts } = received;
  const field = (name: string) => headers.get(name) ?? undefined;
  return { status, headers, etag: field('etag'), requestId: field('x-request-id'), attempts };
}

/** Keeps the response of a body while the body is in use. Returns the body. */
export function remember<T>(body: T, received: Parameters<typeof answerFrom>[0]): T {
  if (typeof body === 'object' && body !== null) answers.set(body, answerFrom(received));
  return body;
}

/**
 * The ETag of an object that an earlier call returned.
 *
 * @throws TypeError if it has none.
 */
export function givenEtag(given: object | string): string {
  const etag = typeof given === 'string' ? given : answerOf(given)?.etag;
  if (etag === undefined)
    throw new TypeError(
      'This value has no ETag. Pass a value that a call returned, not a copy; for lists, a page or a single item.',
    );
  return etag;
}
