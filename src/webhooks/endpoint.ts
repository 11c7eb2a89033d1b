import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from '../db/database.ts';
import { ApiError, StorageUnavailableError } from '../errors.ts';
import { findEvent, readEvents, type StoredEvent } from '../history/store.ts';
import { toTime } from '../instant.ts';
import { judge, noLongerKept, type Result, secretLost } from './result.ts';
import type { Ping } from './schema.ts';
import type { Sending } from './sending.ts';
import { signedRequest } from './signed-request.ts';
import {
  type Due,
  findDue,
  LeaseLostError,
  readSettings,
  recordAgain,
  recordFirst,
  releaseLease,
  renewLease,
  type Settings,
  type WebhookRef,
} from './work.ts';

/** How long an instance that has gone silent keeps a webhook. */
export const leaseMs = 20_000;
/** A webhook is kept for so long with nothing to send, since taking and leaving it at each event would cost two writes. */
const usualIdleMs = 2_000;
/** Beside one first attempt. */
const retriesAtOnce = 2;
/** How many events are looked through and read at once. */
const [maxLookedAt, maxRead] = [1_000, 50];
/** While the storage is away, an outcome is offered to it as often. */
const recordAgainMs = 250;

/**
 * A webhook that this instance works on for as long as there is something to send: new events one after the other, and
 * beside them what is sent again.
 */
export class Endpoint {
  /** Resolves when nothing is under way any more and the webhook is left to others. */
  readonly ended: Promise<void>;
  /** Whether it has ended. */
  isOver = false;
  readonly webhook: WebhookRef;
  #isLeaving = false;
  #idling: NodeJS.Timeout | undefined;
  leaseUntilMs: number;
  /** Until when it need not give way to others that wait. */
  readonly turnUntilMs: number;
  readonly #end: () => void;
  readonly #sending: Sending;
  readonly #breakOff = new AbortController();
  readonly #lanes: (() => Promise<void>)[];
  readonly #busy = new Set<() => Promise<void>>();
  /** Resolves when nothing is under way, if something is. */
  #resting: PromiseWithResolvers<void> | undefined;
  /** Deliveries that are being sent again. */
  readonly #sentAgain = new Set<number>();
  /** How many have been sent again. */
  #ends = 0;
  #settings: Settings;
  #position: number;
  #isStopping = false;
  #isRenewing = false;
  #hasFailed = false;

  constructor(webhook: WebhookRef, settings: Settings, leaseUntilMs: number, sending: Sending) {
    this.webhook = webhook;
    this.#settings = settings;
    this.#position = settings.position;
    [this.leaseUntilMs, this.turnUntilMs] = [leaseUntilMs, leaseUntilMs];
    this.#sending = sending;
    this.#lanes = [
      () => this.#sendNew(),
      ...Array.from({ length: retriesAtOnce }, () => () => this.#sendDue()),
    ];
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
  }

  /** Whether nobody should take up the webhook again yet, since something went wrong that would go wrong again. */
  isResting(nowMs: number): boolean {
    return this.#hasFailed && nowMs < this.leaseUntilMs;
  }

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    return this.#busy.size === 0;
  }

  /** Resolves once nothing is under way. */
  async rested(): Promise<void> {
    if (this.isIdle) return;
    this.#resting ??= Promise.withResolvers();
    await this.#resting.promise;
  }

  /** Starts what there is to do and not under way. */
  advance(): void {
    if (this.#isLeaving || this.#isStopping) return;
    for (const lane of this.#lanes) {
      if (this.#busy.has(lane)) continue;
      this.#busy.add(lane);
      void lane()
        .catch((error) => this.#fail(error))
        .finally(() => this.#rest(lane));
    }
  }

  /** Begins nothing more. */
  stop(): void {
    this.#isStopping = true;
    this.#leaveIfIdle();
  }

  /** Breaks off what is under way. It is not recorded, so the next who works on the webhook repeats it. */
  abort(): void {
    this.#breakOff.abort();
    this.stop();
  }

  /** Keeps the webhook for longer, once a third of the time has passed. */
  async renewWhenDue(nowMs: number): Promise<void> {
    if (this.#isLeaving || this.#isRenewing || nowMs < this.leaseUntilMs - (leaseMs * 2) / 3) return;
    this.#isRenewing = true;
    try {
      await this.#renew();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isRenewing = false;
    }
  }

  async #renew(): Promise<void> {
    const { db, clock, owner } = this.#sending;
    const untilMs = clock() + leaseMs;
    this.#settings = await db.write((sql) =>
      renewLease(sql, this.webhook, { owner, untilMs }, this.#position),
    );
    this.leaseUntilMs = untilMs;
  }

  async #readSettings(): Promise<void> {
    this.#settings = await readSettings(this.#sending.db.read, this.webhook);
  }

  get #mayGoOn(): boolean {
    return !this.#isStopping && this.#settings.enabled;
  }

  /** Sends new events in their order. */
  async #sendNew(): Promise<void> {
    const { db } = this.#sending;
    while (this.#mayGoOn) {
      const { types } = this.#settings;
      const upTo = this.#position + maxLookedAt;
      const range = { after: this.#position, upTo, types, limit: maxRead };
      const { events, first, last } = await readEvents(db.read, this.webhook.workspaceId, range);
      if (last <= this.#position) return;
      // Read after the events, so that a change that came before them counts for them.
      await this.#readSettings();
      if (!isSame(types, this.#settings.types)) continue;
      for (const event of events) {
        if (!this.#mayGoOn || !isSame(types, this.#settings.types)) break;
        if (!(await this.#sendFirst(event))) return;
      }
      const areSent = (events.at(-1)?.id ?? this.#position) <= this.#position;
      // Events in between are of other types, or no longer kept.
      if (areSent && events.length < maxRead && isSame(types, this.#settings.types))
        this.#position = Math.max(this.#position, Math.min(upTo, last), first - 1);
    }
  }

  async #sendFirst(event: StoredEvent): Promise<boolean> {
    const { key, owner } = this.#sending;
    const messageId = key.messageId('event', this.webhook.workspaceId, event.id);
    const result = await this.#attempt(messageId, event.json, 0);
    if (!result) return false;
    const isKept = await this.#record(result, (sql) =>
      recordFirst(sql, this.webhook, owner, { ...event, messageId }, result),
    );
    if (isKept) this.#position = event.id;
    return isKept;
  }

  /** Sends again what is due, beside another that does the same. */
  async #sendDue(): Promise<void> {
    const { db, clock } = this.#sending;
    while (this.#mayGoOn) {
      const ends = this.#ends;
      const due = await findDue(db.read, this.webhook, clock(), retriesAtOnce);
      // What ended meanwhile may have been read as it was before.
      if (ends !== this.#ends) continue;
      const delivery = due.find(({ id }) => !this.#sentAgain.has(id));
      if (!delivery) return;
      this.#sentAgain.add(delivery.id);
      try {
        if (!(await this.#sendAgain(delivery))) return;
      } finally {
        this.#sentAgain.delete(delivery.id);
        this.#ends++;
      }
    }
  }

  async #sendAgain(due: Due): Promise<boolean> {
    const { owner } = this.#sending;
    const body = await this.#bodyOf(due);
    const result =
      body === undefined
        ? noLongerKept(this.#sending.clock())
        : await this.#attempt(due.messageId, body, due.failures);
    return (
      result !== undefined &&
      this.#record(result, (sql) => recordAgain(sql, this.webhook, owner, due, result))
    );
  }

  async #bodyOf({ eventId, createdAtMs }: Due): Promise<string | undefined> {
    const { workspaceId, id } = this.webhook;
    if (eventId !== undefined) return (await findEvent(this.#sending.db.read, workspaceId, eventId))?.json;
    const ping: Ping = { type: 'ping', timestamp: toTime(createdAtMs), data: { webhookId: id } };
    return JSON.stringify(ping);
  }

  /** Sends once, when there is room. Undefined: it was broken off, or the webhook stands still. */
  #attempt(messageId: string, body: string, failures: number): Promise<Result | undefined> {
    const { slots, clock, random, send, key } = this.#sending;
    return slots.run(this.webhook.workspaceId, async () => {
      if (clock() >= this.leaseUntilMs) await this.#renew();
      else await this.#readSettings();
      if (!this.#mayGoOn) return undefined;
      this.#stayOn();
      const startedAtMs = clock();
      const { signal } = this.#breakOff;
      const outcome = key.isFor(this.#settings.salt)
        ? await send(signedRequest(this.#settings, key, { id: messageId, body, atMs: startedAtMs }), signal)
        : secretLost;
      if (signal.aborted && outcome.error !== undefined) return undefined;
      const { failingSinceMs } = this.#settings;
      const times = { startedAtMs, endedAtMs: clock() };
      return judge(outcome, { failures, failingSinceMs, ...times, random: random() });
    });
  }

  /** Writes what became of an attempt, however long the storage is away, since the attempt would be repeated otherwise. */
  async #record(result: Result, write: (sql: Transaction) => Promise<Settings>): Promise<boolean> {
    const { db, clock } = this.#sending;
    const wasEnabled = this.#settings.enabled;
    for (;;) {
      try {
        this.#settings = await db.write(write, { atMs: clock(), workspaceId: this.webhook.workspaceId });
        this.#tell(result, wasEnabled);
        return true;
      } catch (error) {
        if (!(error instanceof StorageUnavailableError)) throw error;
        const { signal } = this.#breakOff;
        if (signal.aborted) return false;
        await sleep(recordAgainMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  #tell({ state, disable }: Result, wasEnabled: boolean): void {
    const { counts, changes, log } = this.#sending;
    counts[state === 'delivered' ? 'delivered' : state === 'pending' ? 'failed' : 'givenUp']++;
    if (!disable || !wasEnabled) return;
    counts.disabled[disable]++;
    const { workspaceId, id: webhookId } = this.webhook;
    changes.tell(workspaceId);
    // Path and query of a URL may hold a secret.
    const { host } = new URL(this.#settings.url);
    log.info({ workspaceId, webhookId, host, reason: disable }, 'a webhook was disabled');
  }

  /** What stops a lane: a lease that is lost, a storage that is away, or a mistake. */
  #fail(error: unknown): void {
    if (error instanceof StorageUnavailableError) return;
    // A workspace that was deleted refuses new ids.
    if (!(error instanceof LeaseLostError || error instanceof ApiError)) {
      this.#hasFailed = true;
      this.#sending.log.error({ err: error, ...this.webhook }, 'a webhook cannot be worked on');
    }
    this.abort();
  }

  #rest(lane: () => Promise<void>): void {
    this.#busy.delete(lane);
    if (this.#busy.size > 0) return;
    this.#resting?.resolve();
    this.#resting = undefined;
    const { idleMs = usualIdleMs } = this.#sending;
    if (this.#mayGoOn) this.#idling ??= setTimeout(() => this.#leaveIfIdle(), idleMs).unref();
    else this.#leaveIfIdle();
  }

  #leaveIfIdle(): void {
    this.#stayOn();
    if (this.#busy.size > 0 || this.#isLeaving) return;
    this.#isLeaving = true;
    void this.#leave();
  }

  /** Takes back that the webhook is to be left. */
  #stayOn(): void {
    clearTimeout(this.#idling);
    this.#idling = undefined;
  }

  async #leave(): Promise<void> {
    const { db, clock, owner } = this.#sending;
    const untilMs = clock() - leaseMs;
    // Where the storage is away, and after a mistake, the lease ends by itself.
    if (!this.#hasFailed) {
      await db
        .write((sql) => releaseLease(sql, this.webhook, { owner, untilMs }, this.#position))
        .catch((error) => this.#fail(error));
    }
    this.isOver = true;
    this.#end();
  }
}

const isSame = (some: readonly string[] | undefined, others: readonly string[] | undefined) =>
  some?.join() === others?.join();
