import { PetstoreError } from '../../client/error.ts';
import type { Accounts, Lab, Operations } from '../../client/index.ts';
import { type Block, blockOf, type ConnectionState, isAccount, type KeyAccount } from './account.ts';
import { type Clients, operationsFor, reasonOf } from './api.ts';

const [readEveryMs, retryMs, retryLabMs] = [1_000, 2_000, 10_000];

/** The lab's own limit lasts a minute at most. A proxy may ask for a day. */
const longestRetryMs = 60_000;

/** Observable state. */
export class State {
  readonly #listeners = new Set<() => void>();

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  protected changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** State that is read with the key of a session. */
export abstract class SessionState extends State {
  protected readonly session: Session;

  constructor(session: Session) {
    super();
    this.session = session;
  }
}

/** Begins anew, with a key or none. */
type Restart = (key: string, connection?: ConnectionState) => void;

/** A key, its clients, and its account, which is read every second. All other state of the page is read after it. */
export class Session extends State {
  readonly key: string;
  /** Aborted when the page has another key. */
  readonly signal: AbortSignal;
  readonly restart: Restart;
  connection: ConnectionState;
  /** When the account was last read, or first asked for, by the browser's clock. */
  asOfMs = Date.now();
  /** When the page asks again after a failure, by the browser's clock. */
  retryAtMs = 0;
  /** Why the account could not be read. */
  failure = '';
  account: KeyAccount | undefined;
  readonly #clients: Clients | undefined;
  #aheadMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The number of the last request, and of the newest response. Responses may arrive out of order. */
  #asked = 0;
  #answered = 0;

  constructor(key: string, connection: ConnectionState, signal: AbortSignal, restart: Restart) {
    super();
    this.key = key;
    this.connection = connection;
    this.signal = signal;
    this.restart = restart;
    if (!key) return;
    this.#clients = operationsFor(key, signal);
    const refreshIfVisible = () => {
      clearTimeout(this.#timer);
      if (!document.hidden) void this.refresh();
    };
    document.addEventListener('visibilitychange', refreshIfVisible, { signal });
    if (connection === 'connecting') void this.refresh();
    else this.#refreshIn(retryLabMs);
  }

  /** A client of the API, whose requests count. */
  get petstore(): Operations {
    return this.#clientsInUse.petstore;
  }

  get lab(): Lab {
    return this.#clientsInUse.lab;
  }

  get accounts(): Accounts {
    return this.#clientsInUse.accounts;
  }

  get #clientsInUse() {
    if (!this.#clients) throw new Error('The page has no key.');
    return this.#clients;
  }

  /** Why the key cannot send requests now. */
  get blockedBy(): Block | undefined {
    return this.account && blockOf(this.account);
  }

  /** Whether the user can send no request of the API now. */
  get isBlocked(): boolean {
    return this.connection === 'away' || this.blockedBy !== undefined;
  }

  /** The time of the service, in milliseconds since 1970. It stops while the service is unreachable. */
  nowMs(): number {
    return (this.connection === 'away' ? this.asOfMs : Date.now()) + this.#aheadMs;
  }

  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    const number = ++this.#asked;
    const isLate = () => number < this.#answered || this.signal.aborted;
    let waitMs = readEveryMs;
    try {
      const account = (await this.lab.getAccount()) as KeyAccount;
      if (isLate()) return;
      if (!isAccount(account)) throw new Error('The response is not the account of a key.');
      if (this.connection === 'lab-off') return this.restart(this.key);
      this.account = account;
      this.asOfMs = Date.now();
      this.#aheadMs = Date.parse(account.at) - this.asOfMs;
      this.failure = '';
      this.#connect('live');
    } catch (error) {
      if (isLate()) return;
      const { status, code } = error instanceof PetstoreError ? error : {};
      if (code === 'unauthorized') return this.restart('', 'revoked');
      // A proxy may answer 404 too, but with another code.
      if (status === 404 && code === 'not_found') return this.restart(this.key, 'lab-off');
      waitMs = this.#fail(error);
    }
    this.#answered = number;
    this.#refreshIn(waitMs);
  }

  #refreshIn(ms: number): void {
    clearTimeout(this.#timer);
    if (!document.hidden) this.#timer = setTimeout(() => this.refresh(), ms);
  }

  /** Returns after how many milliseconds to ask again. */
  #fail(error: unknown): number {
    const { code, retryAt } = error instanceof PetstoreError ? error : {};
    this.failure = reasonOf(error);
    const askedMs = (retryAt?.getTime() ?? 0) - Date.now();
    this.retryAtMs = Date.now() + Math.min(Math.max(askedMs, retryMs), longestRetryMs);
    this.#connect(code === 'rate_limited' && this.account ? 'slowed' : 'away');
    return this.retryAtMs - Date.now();
  }

  #connect(connection: ConnectionState): void {
    this.connection = connection;
    this.changed();
  }
}
