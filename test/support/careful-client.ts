import assert from 'node:assert/strict';
import { parseExactly, writeExactly } from './exact-json.ts';

/** The address of the store, and the clock of a careful client. */
export interface Surroundings {
  origin: string;
  key: string;
  now(): number;
  sleep(ms: number): Promise<void>;
  /** The most attempts for one action. Default: more than any fault lasts. */
  maxAttempts?: number;
}

export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes
  body: any;
  /** Whether an earlier attempt may have succeeded, though its response was not read. */
  mayBeDone: boolean;
}

const defaultAttempts = 300;
const firstPauseMs = 100;
const longestPauseMs = 10_000;

/**
 * A client as the guides recommend: it waits for Retry-After, retries temporary failures, sends an Idempotency-Key with each POST and
 * If-Match with each change, follows `Link`, keeps ids exact, and ignores unknown values.
 */
export class CarefulClient {
  readonly #at: Surroundings;
  #keys = 0;

  constructor(surroundings: Surroundings) {
    this.#at = surroundings;
  }

  /** Creates a resource exactly once, in any number of attempts. */
  post(path: string, body: unknown): Promise<Reply> {
    return this.#send('POST', path, body, { 'idempotency-key': `careful-${++this.#keys}` });
  }

  /** All items of a list, page by page. */
  // biome-ignore lint/suspicious/noExplicitAny: items of many shapes
  async list(path: string): Promise<any[]> {
    const items = [];
    for (let next: string | undefined = path; next; ) {
      const { status, headers, body } = await this.#send('GET', next);
      assert.equal(status, 200);
      items.push(...body);
      const target = nextOf(headers);
      // A page that links to itself is the last.
      next = target === next ? undefined : target;
    }
    return items;
  }

  /**
   * Changes or removes a resource that `read` finds. It decides from the current state: it reads again after 412, and after an attempt
   * that may have succeeded. Returns the status of the change, or 404 if there is nothing to change.
   */
  async change(
    read: { path: string; isList?: boolean },
    target: { method: 'PUT' | 'PATCH' | 'DELETE'; path: string },
    // biome-ignore lint/suspicious/noExplicitAny: resources of many shapes
    decide: (current: any) => { body?: unknown; isDone: (later: any) => boolean },
  ): Promise<number | 'so already'> {
    let decision: ReturnType<typeof decide> | undefined;
    let mayBeDone = false;
    for (let attempts = 0; attempts < defaultAttempts; attempts++) {
      const found = await this.#read(read);
      const current = read.isList ? found.body[0] : found.status === 200 ? found.body : undefined;
      if (current === undefined) return mayBeDone && target.method === 'DELETE' ? 204 : 404;
      if (decision && mayBeDone && decision.isDone(current)) return 200;
      decision = decide(current);
      if (decision.isDone(current)) return 'so already';
      const etag = found.headers.get('etag') as string;
      const reply = await this.#send(target.method, target.path, decision.body, { 'if-match': etag });
      mayBeDone = reply.mayBeDone;
      const isUnclear = reply.mayBeDone && reply.status >= 400;
      if (reply.status !== 412 && !isUnclear) return reply.status;
    }
    throw new Error(`${target.method} ${target.path} never came to an end`);
  }

  /** A resource, or the page of a list that contains only it. */
  async #read({ path, isList }: { path: string; isList?: boolean }): Promise<Reply> {
    const reply = await this.#send('GET', path);
    const next = isList && reply.body.length === 0 ? nextOf(reply.headers) : undefined;
    return next ? this.#read({ path: next, isList: true }) : reply;
  }

  async #send(
    method: string,
    path: string,
    body?: unknown,
    fields: Record<string, string> = {},
  ): Promise<Reply> {
    const { origin, key, now, sleep, maxAttempts = defaultAttempts } = this.#at;
    let pauseMs = firstPauseMs;
    let mayBeDone = false;
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      const headers = {
        ...fields,
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const payload = body === undefined ? {} : { body: writeExactly(body) };
      const answer = await fetch(`${origin}/v1${path}`, { method, headers, ...payload })
        .then(async (response) => ({ response, text: await response.text() }))
        .catch(() => undefined);
      if (answer && !this.#isTemporary(answer.response.status, answer.text)) {
        const { status, headers } = answer.response;
        return { status, headers, body: answer.text && parseExactly(answer.text), mayBeDone };
      }
      if (!answer || answer.response.status >= 500) mayBeDone = true;
      const retryAfter = answer?.response.headers.get('retry-after');
      await sleep(retryAfter ? waitMs(retryAfter, now()) : pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
    throw new Error(`${method} ${path} never came to an end`);
  }

  /** Whether an attempt may succeed later, also while the previous attempt with a lost response is in flight. */
  #isTemporary(status: number, text: string): boolean {
    if ([429, 500, 502, 503, 504].includes(status)) return true;
    if (status === 403) return text.includes('key_banned');
    return status === 409 && text.includes('idempotency_key_in_use');
  }
}

/** The value of `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3). */
const waitMs = (field: string, nowMs: number) =>
  /^\d+$/.test(field) ? Number(field) * 1_000 : Math.max(0, Date.parse(field) - nowMs);

/** The link to the next page. */
function nextOf(headers: Headers): string | undefined {
  const target = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  return target?.replace(/^.*\/v1/, '');
}
