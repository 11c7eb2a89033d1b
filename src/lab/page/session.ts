import { type Lab, type Petstore, PetstoreError } from '../../client/index.ts';
import { clientsFor, reasonOf } from './api.ts';
import { type Block, blockOf } from './blocked-by.ts';
import { State, startAnew, untilKeyChange } from './state.ts';
import type { Account, ConnectionState } from './types.ts';

const [readEveryMs, retryMs, retryLabMs] = [1_000, 2_000, 10_000];

/** The lab's own limit lasts a minute at most. A proxy may ask for a day. */
const longestRetryMs = 60_000;

/** The key in use, and its account, which is read every second. */
class Session extends State {
  key = '';
  connection: ConnectionState = 'no-key';
  /** When the account was last read, or first asked for, by the browser's clock. */
  asOfMs = 0;
  /** When the page asks again after a failure, by the browser's clock. */
  retryAtMs = 0;
  /** Why the account could not be read. */
  failure = '';
  account: Account | undefined;
  #clients: { petstore: Petstore; lab: Lab } | undefined;
  #aheadMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The number of the last request, and of the newest response. Responses may arrive out of order. */
  #asked = 0;
  #answered = 0;

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => {
      clearTimeout(this.#timer);
      if (this.key && !document.hidden) void this.refresh();
    });
  }

  /** A client of the API, whose requests count. */
  get petstore(): Petstore {
    return this.#clientsInUse.petstore;
  }

  get lab(): Lab {
    return this.#clientsInUse.lab;
  }

  /** Why the key cannot send requests now. */
  get blockedBy(): Block | undefined {
    return this.account && blockOf(this.account);
  }

  /** The time of the service, in milliseconds since 1970. It stops while the service is unreachable. */
  nowMs(): number {
    return (this.connection === 'away' ? this.asOfMs : Date.now()) + this.#aheadMs;
  }

  /** Continues with another key, or with none. */
  use(key: string): void {
    clearTimeout(this.#timer);
    this.key = key;
    this.asOfMs = Date.now();
    this.#startAnew(key ? 'connecting' : 'no-key');
    this.#clients = key ? clientsFor(key) : undefined;
    if (key) void this.refresh();
  }

  /** Reads the account now. */
  refresh(): Promise<void> {
    return untilKeyChange(this.#read());
  }

  async #read(): Promise<void> {
    clearTimeout(this.#timer);
    const number = ++this.#asked;
    let waitMs = readEveryMs;
    try {
      const account = (await this.lab.getAccount()) as Account;
      if (number < this.#answered) return;
      if (!isAccount(account)) throw new Error('The response is not the account of a key.');
      if (this.connection === 'lab-off') return this.use(this.key);
      this.account = account;
      this.asOfMs = Date.now();
      this.#aheadMs = Date.parse(account.at) - this.asOfMs;
      this.failure = '';
      this.#connect('live');
    } catch (error) {
      if (number < this.#answered) return;
      waitMs = this.#fail(error);
    }
    this.#answered = number;
    clearTimeout(this.#timer);
    if (!document.hidden && waitMs < Number.POSITIVE_INFINITY)
      this.#timer = setTimeout(() => this.refresh(), waitMs);
  }

  get #clientsInUse() {
    if (!this.#clients) throw new Error('The page has no key.');
    return this.#clients;
  }

  /** Returns after how many milliseconds to ask again. */
  #fail(error: unknown): number {
    const { status, code, retryAt } = error instanceof PetstoreError ? error : {};
    this.failure = reasonOf(error);
    if (code === 'unauthorized') {
      this.key = '';
      this.#startAnew('revoked');
      return Number.POSITIVE_INFINITY;
    }
    // A proxy may answer 404 too, but with another code.
    if (status === 404 && code === 'not_found') {
      this.#startAnew('lab-off');
      // The state is new, but the key is not.
      this.#clients = clientsFor(this.key);
      return retryLabMs;
    }
    const askedMs = (retryAt?.getTime() ?? 0) - Date.now();
    this.retryAtMs = Date.now() + Math.min(Math.max(askedMs, retryMs), longestRetryMs);
    this.#connect(code === 'rate_limited' && this.account ? 'slowed' : 'away');
    return this.retryAtMs - Date.now();
  }

  #startAnew(connection: ConnectionState): void {
    this.connection = connection;
    this.account = undefined;
    startAnew();
  }

  #connect(connection: ConnectionState): void {
    this.connection = connection;
    this.changed();
  }
}

export const session = new Session();

/** Whether it is an account: a proxy may answer in place of the service. */
const isAccount = ({ at, ban, minute, day }: Partial<Account>): boolean =>
  Number.isFinite(Date.parse(at ?? '')) &&
  ban !== undefined &&
  [minute, day].every(
    (window) => Number.isSafeInteger(window?.remaining) && Number.isSafeInteger(window?.reset),
  );
