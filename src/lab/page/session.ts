import { createLab, createPetstore, type Lab, type Petstore, PetstoreError } from '../../client/index.ts';
import { ownRequest } from '../own-requests.ts';
import { type Obstacle, obstacleOf } from './obstacle.ts';
import { clockTime, endToSecond } from './times.ts';
import type { Account } from './types.ts';

/**
 * What state the page is in. `connecting`: nothing was answered yet. `slowed`: the lab was asked too often, and is asked again at
 * `againAtMs`. `away`: the service does not answer, and is asked again. `revoked`: the key is unknown or was revoked. `lab-off`: there is
 * no lab.
 */
export type Standing = 'no-key' | 'connecting' | 'live' | 'slowed' | 'away' | 'revoked' | 'lab-off';

/** How often the account is read, and after how long again where that fails. */
const [readEveryMs, retryMs, retryLabMs] = [1_000, 2_000, 10_000];
/** Longer than the service ever takes; then it is away. */
const timeoutMs = 10_000;

/** The account of the lab is full for a minute at most. What stands in between may ask for a day. */
const longestRetryMs = 60_000;

/** Where the API is. A proxy may serve all of it below a path. */
export const baseUrl = new URL('v1', document.baseURI).href;

/** The faults that have touched the last answers to the page, by the ids of its requests. */
const faults = new Map<string, string>();
const maxFaults = 100;

/** Sends a request of the page itself. */
const send: typeof fetch = async (url, init) => {
  const headers = new Headers(init?.headers);
  const requestId = `${ownRequest}${headers.get('x-request-id')}`;
  headers.set('x-request-id', requestId);
  const response = await fetch(url, { ...init, headers });
  const [, fault] = /fault=([\w-]+)/.exec(response.headers.get('petstore-rehearsal') ?? '') ?? [];
  if (fault) faults.set(requestId, fault);
  for (const [oldest] of faults) if (faults.size > maxFaults) faults.delete(oldest);
  return response;
};

/** What the page knows of its key. It tells `key` when it has another one, and `change` when anything else is new. */
class Session extends EventTarget {
  key = '';
  standing: Standing = 'no-key';
  /** When the account was last read, or first asked for, by the clock of this machine. While the service is away, time stands there. */
  asOfMs = 0;
  /** When the account is read again after a failure, by that clock. */
  againAtMs = 0;
  /** Why it could not be read the last time. */
  failure = '';
  /** How the key stood when it was last read. */
  account: Account | undefined;
  /** What asks the API, with requests that count, and what asks the lab. */
  #clients: { petstore: Petstore; lab: Lab } | undefined;
  #aheadMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** How often the account was asked for, and which of that was answered last: answers may overtake each other. */
  #asked = 0;
  #answered = 0;
  /** Ends what was asked with the key before. */
  #ended = new AbortController();

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => {
      clearTimeout(this.#timer);
      if (this.key && !document.hidden) void this.refresh();
    });
  }

  /** Asks the API. A call that would have to wait for more than ten seconds rejects at once. */
  get petstore(): Petstore {
    return this.#asking.petstore;
  }

  get lab(): Lab {
    return this.#asking.lab;
  }

  /** What keeps the key from asking the API now. */
  get obstacle(): Obstacle | undefined {
    return this.account && obstacleOf(this.account);
  }

  /** Ends when the page gets another key. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** The time of the service, in milliseconds since 1970. Nobody knows how it goes on while the service is away. */
  nowMs(): number {
    return (this.standing === 'away' ? this.asOfMs : Date.now()) + this.#aheadMs;
  }

  /** Goes on with another key, or with none. */
  use(key: string): void {
    clearTimeout(this.#timer);
    const options = { baseUrl, apiKey: key, attempts: 1, timeoutMs, fetch: send };
    this.#clients = key ? { petstore: createPetstore(options), lab: createLab(options) } : undefined;
    this.key = key;
    this.asOfMs = Date.now();
    this.standing = key ? 'connecting' : 'no-key';
    this.#forget();
    if (key) void this.refresh();
  }

  /** Reads the account now, as after something that changed it. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    const { signal } = this;
    const number = ++this.#asked;
    let waitMs = readEveryMs;
    try {
      const account = (await this.lab.getAccount({ signal })) as Account;
      if (signal.aborted || number < this.#answered) return;
      if (!isAccount(account)) throw new Error('What is answered is no account of a key.');
      if (this.standing === 'lab-off') return this.use(this.key);
      this.account = account;
      this.asOfMs = Date.now();
      this.#aheadMs = Date.parse(account.at) - this.asOfMs;
      this.failure = '';
      this.#stand('live');
    } catch (error) {
      if (signal.aborted || number < this.#answered) return;
      waitMs = this.#failed(error);
    }
    this.#answered = number;
    clearTimeout(this.#timer);
    if (!document.hidden && waitMs < Number.POSITIVE_INFINITY)
      this.#timer = setTimeout(() => this.refresh(), waitMs);
  }

  get #asking() {
    if (!this.#clients) throw new Error('The page has no key.');
    return this.#clients;
  }

  /** Takes notice of a failure, and says after how long to ask again. */
  #failed(error: unknown): number {
    const { status, code, retryAt } = error instanceof PetstoreError ? error : {};
    this.failure = reasonOf(error);
    // Something in between may answer so, too, but with other words.
    const ends =
      code === 'unauthorized' ? 'revoked' : status === 404 && code === 'not_found' ? 'lab-off' : undefined;
    if (ends) {
      this.standing = ends;
      // No part may go on with it.
      if (ends === 'revoked') this.key = '';
      this.#forget();
      return ends === 'revoked' ? Number.POSITIVE_INFINITY : retryLabMs;
    }
    const askedMs = (retryAt?.getTime() ?? 0) - Date.now();
    this.againAtMs = Date.now() + Math.min(Math.max(askedMs, retryMs), longestRetryMs);
    this.#stand(code === 'rate_limited' && this.account ? 'slowed' : 'away');
    return this.againAtMs - Date.now();
  }

  /** Has all parts forget what they knew of a key. */
  #forget(): void {
    this.account = undefined;
    this.#ended.abort();
    this.#ended = new AbortController();
    this.dispatchEvent(new Event('key'));
  }

  #stand(standing: Standing): void {
    this.standing = standing;
    this.dispatchEvent(new Event('change'));
  }
}

export const session = new Session();

/** Something else than the service may answer in its place. */
const isAccount = ({ at, ban, minute, day }: Partial<Account>): boolean =>
  Number.isFinite(Date.parse(at ?? '')) &&
  ban !== undefined &&
  [minute, day].every(
    (window) => Number.isSafeInteger(window?.remaining) && Number.isSafeInteger(window?.reset),
  );

/**
 * What a page can say of a failed action: what happened, whether it was real, whether it may have been done, and by which id the log of
 * the service names it.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof PetstoreError)) return String(error);
  const { message, requestId, retryAt, mayBeDone } = error;
  const fault = faults.get(requestId ?? '');
  return [
    // Of what was not sent at all, the client tells when it can be, in UTC.
    retryAt ? message.replace(retryAt.toISOString(), clockTime(endToSecond(retryAt.getTime()))) : message,
    fault && `The fault ${fault} is on.`,
    mayBeDone && 'It may have been done all the same.',
    requestId && !message.includes(requestId) && `(request ${requestId})`,
  ]
    .filter(Boolean)
    .join(' ');
}
