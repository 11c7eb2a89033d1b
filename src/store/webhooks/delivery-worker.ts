import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Database, Transaction } from '../../db/database.ts';
import { ApiError, StorageUnavailableError } from '../../foundation/errors.ts';
import type { Slots } from '../../foundation/fair-slots.ts';
import { coalesce } from '../../foundation/promises.ts';
import type { InstallationKey } from '../../foundation/settings/secret-key.ts';
import type { ChangeNotifier } from '../history/record.ts';
import { readEvents, type StoredEvent } from '../history/store.ts';
import { traceAttempts } from './attempt-spans.ts';
import {
  isAhead,
  isSameTypes,
  LeaseLostError,
  leaseMs,
  readSettings,
  updateLease,
  type WebhookRef,
  type WebhookSettings,
} from './lease-store.ts';
import { contentOfDelivery, contentOfEvent, type MessageContent, secretsOf } from './message-content.ts';
import {
  type DueDelivery,
  type FirstAttempt,
  findDue,
  findUnsentMissed,
  type Missed,
  recordFirstAttempts,
  recordMissed,
  recordRetry,
} from './result-store.ts';
import {
  type AttemptResult,
  type DeliveryCounts,
  eventExpired,
  maxUnrecorded,
  resultFor,
  resultOf,
  secretLost,
} from './retry-policy.ts';
import type { FinishedAttempt, SendBatch } from './send-batch.ts';

/** How long a lease is kept with nothing to send, because acquiring and releasing it costs two writes. */
const defaultIdleMs = 2_000;
const parallelRetries = 2;
/** The maximum number of events that a page scans, and that it returns. */
const [maxLookedAt, maxRead] = [1_000, 50];
/** The interval at which results are written again while the storage is unavailable. */
const retryWriteMs = 250;

/** The objects that all workers of an instance share. */
export interface WorkerContext {
  db: Database;
  /** Is notified when a webhook is disabled, because that is an event. */
  changes: ChangeNotifier;
  key: InstallationKey;
  sendBatch: SendBatch;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** From 0 to 1. */
  random: () => number;
  log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>;
  owner: string;
  slots: Slots;
  /** How long a lease is kept with nothing to send. Default: 2 s. */
  idleMs?: number;
  counts: DeliveryCounts;
}

/** Sends to one webhook while this instance has its lease: events in order, retries in parallel. Releases the lease when idle. */
export class DeliveryWorker {
  readonly webhook: WebhookRef;
  readonly #ending = Promise.withResolvers<void>();
  /** Resolves once the lease is released. */
  readonly ended = this.#ending.promise;
  hasEnded = false;
  #leaseUntilMs: number;
  readonly #turnUntilMs: number;
  readonly #context: WorkerContext;
  readonly #abortController = new AbortController();
  /** One task for new events, and others for retries. A task that is called while it runs follows itself, because its reads may be too early. */
  readonly #tasks: readonly (() => Promise<void>)[];
  readonly #running = new Set<Promise<void>>();
  #idleTimer: NodeJS.Timeout | undefined;
  /** Retries in flight, by the ids of their deliveries. Each resolves to whether its result was written. */
  readonly #retries = new Map<number, Promise<boolean>>();
  #finishedRetries = 0;
  /** First attempts whose results are not on disk, in order. Those that arrive during a commit share the next one. */
  readonly #unrecorded: FirstAttempt[] = [];
  readonly #recordAll = coalesce(() => this.#recordFirstAttempts());
  #recording: Promise<void> | undefined;
  /** A number in shared memory, which grows when the settings may have changed. */
  readonly #version = new Int32Array(new SharedArrayBuffer(4));
  #settings: WebhookSettings;
  /** The last event that was sent or skipped. */
  #position: number;
  /** Whether there may be messages about missed events without an attempt, for example from an instance that crashed. */
  #mayHaveUnsentMissed = true;
  #isStopping = false;
  #isReleasing = false;
  #renewing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(webhook: WebhookRef, settings: WebhookSettings, leaseUntilMs: number, context: WorkerContext) {
    this.webhook = webhook;
    this.#settings = settings;
    this.#position = settings.position;
    [this.#leaseUntilMs, this.#turnUntilMs] = [leaseUntilMs, leaseUntilMs];
    this.#context = context;
    const retries = Array.from({ length: parallelRetries }, () => () => this.#sendRetries());
    this.#tasks = [() => this.#sendNew(), ...retries].map((task) =>
      coalesce(() => task().catch((error) => this.#fail(error))),
    );
  }

  /** Whether it failed because of an error of this program. Then the webhook should not be leased again before its lease expires. */
  isBlocked(nowMs: number): boolean {
    return this.#hasFailed && isAhead(this.#leaseUntilMs, nowMs);
  }

  /** Whether it should stop so that waiting webhooks can be served. */
  isTurnOver(nowMs: number): boolean {
    return !isAhead(this.#turnUntilMs, nowMs);
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  async whenIdle(): Promise<void> {
    while (!this.isIdle) await Promise.all(this.#running);
  }

  /** Whether it starts no further attempts, but still has its lease. */
  get isEnding(): boolean {
    return (this.#isReleasing || this.#isStopping) && !this.hasEnded;
  }

  /** Starts each task. A running task starts again when it finishes. */
  advance(): void {
    if (this.#isReleasing || this.#isStopping) return;
    for (const task of this.#tasks) {
      const run = task();
      if (this.#running.has(run)) continue;
      this.#running.add(run);
      void run.then(() => this.#finish(run));
    }
  }

  /** Makes later requests use the current settings. */
  invalidateSettings(): void {
    Atomics.add(this.#version, 0, 1);
  }

  stop(): void {
    this.#isStopping = true;
    this.invalidateSettings();
    this.#releaseIfIdle();
  }

  /** Aborts requests in flight. Their results are not recorded, so the next worker repeats them. */
  abort(): void {
    this.#abortController.abort();
    this.stop();
  }

  /** Renews the lease once a third of its time has passed. */
  renewWhenDue(nowMs: number): void {
    const leftMs = this.#leaseUntilMs - nowMs;
    // If the clock was set back, more than a whole lease is left.
    const isDue = leftMs <= (leaseMs * 2) / 3 || leftMs > leaseMs;
    if (this.#isReleasing || !isDue) return;
    this.#renewing ??= this.#renew()
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#renewing = undefined;
      });
  }

  async #renew(): Promise<void> {
    const { db, clock, owner } = this.#context;
    const untilMs = clock() + leaseMs;
    this.#settings = await db.write((sql) =>
      updateLease(sql, this.webhook, { owner, untilMs }, this.#recordedPosition),
    );
    this.#leaseUntilMs = untilMs;
  }

  /** The last event before which all results are on disk. */
  get #recordedPosition(): number {
    const [first] = this.#unrecorded;
    return first ? first.event.id - 1 : this.#position;
  }

  get #maySend(): boolean {
    return !this.#isStopping && this.#settings.enabled;
  }

  async #sendNew(): Promise<void> {
    try {
      await this.#sendUnsentMissed();
      while (this.#maySend && (await this.#sendPage()));
    } finally {
      await this.#recording;
    }
  }

  /** Sends the next page of events. False if there are no more. */
  async #sendPage(): Promise<boolean> {
    if (this.#unrecorded.length + maxRead > maxUnrecorded) await this.#recording;
    const { types } = this.#settings;
    const upTo = this.#position + maxLookedAt;
    const range = { after: this.#position, upTo, types, limit: maxRead };
    const { db } = this.#context;
    const { events, first, last } = await readEvents(db.read, this.webhook.workspaceId, range);
    if (last <= this.#position) return false;
    if (first > this.#position + 1) {
      await this.#reportMissed({ first: this.#position + 1, last: first - 1 });
      return true;
    }
    // Settings are read after the events, so that a change before these events applies to them.
    if (events.length === 0) this.#settings = await readSettings(db.read, this.webhook);
    for (let sent = 0; sent < events.length && isSameTypes(types, this.#settings.types); ) {
      sent += await this.#sendFirstAttempts(events.slice(sent), types);
      if (!this.#maySend) return false;
    }
    if (!isSameTypes(types, this.#settings.types)) return true;
    // The skipped events have other types.
    if (events.length < maxRead) this.#position = Math.max(this.#position, Math.min(upTo, last));
    return true;
  }

  /** Sends events in one batch and returns how many were sent. Their results are written while the next batch is sent. */
  async #sendFirstAttempts(events: readonly StoredEvent[], types: WebhookSettings['types']): Promise<number> {
    // After a restore from a backup an id may be used again. The time makes the message ids different.
    const messages = events.map((event) => ({
      id: this.#context.key.messageId('event', this.webhook.workspaceId, event.id, event.createdAtMs),
      ...contentOfEvent(event),
    }));
    let mustFlush = false;
    let count = 0;
    await this.#send(messages, 0, types, (result, settings) => {
      const event = events[count] as StoredEvent;
      const { id: messageId } = messages[count++] as (typeof messages)[number];
      this.#position = event.id;
      this.#unrecorded.push({ event, messageId, result });
      this.#recording = this.#recordAll();
      // The consequences of the next attempt depend on this result.
      mustFlush ||= result.disable !== undefined || settings.failingSinceMs !== undefined;
    });
    if (mustFlush) await this.#recording;
    return count;
  }

  /** Records missed events, and sends the message about them. */
  async #reportMissed(missed: Missed): Promise<void> {
    const { db, clock, key, owner, counts, log } = this.#context;
    await this.#recording;
    const { workspaceId, id: webhookId } = this.webhook;
    const cause = { atMs: clock(), workspaceId };
    await db.write((sql) => recordMissed(sql, this.webhook, owner, missed, key), cause);
    this.#position = missed.last;
    const count = missed.last - missed.first + 1;
    counts.missed += count;
    const facts = { workspaceId, webhookId, count, firstEventId: missed.first, lastEventId: missed.last };
    log.warn(facts, 'events were removed before a webhook received them');
    this.#mayHaveUnsentMissed = true;
    await this.#sendUnsentMissed();
  }

  /** Sends the first attempts of messages about missed events, before later events. */
  async #sendUnsentMissed(): Promise<void> {
    while (this.#mayHaveUnsentMissed && this.#maySend) {
      const due = await findUnsentMissed(this.#context.db.read, this.webhook);
      if (due) await this.#sendOnce(due);
      else this.#mayHaveUnsentMissed = false;
    }
  }

  /** Sends due deliveries one after another, in parallel with the other tasks. */
  async #sendRetries(): Promise<void> {
    const { db, clock } = this.#context;
    while (this.#maySend) {
      const finished = this.#finishedRetries;
      const due = await findDue(db.read, this.webhook, clock(), parallelRetries + 1);
      // The rows may be older than a retry that finished during the read.
      if (finished !== this.#finishedRetries) continue;
      const delivery = due.find(({ id }) => !this.#retries.has(id));
      if (!delivery || !(await this.#sendOnce(delivery))) return;
    }
  }

  /** Sends a delivery, or waits for it if it is in flight. Resolves to whether its result was written. */
  #sendOnce(due: DueDelivery): Promise<boolean> {
    const inFlight = this.#retries.get(due.id);
    if (inFlight) return inFlight;
    const sent = this.#sendDelivery(due).finally(() => {
      this.#retries.delete(due.id);
      this.#finishedRetries++;
    });
    this.#retries.set(due.id, sent);
    return sent;
  }

  async #sendDelivery(due: DueDelivery): Promise<boolean> {
    const { db, clock, owner } = this.#context;
    const content = await contentOfDelivery(db.read, this.webhook, due);
    let result = content ? undefined : eventExpired(clock());
    if (content) {
      await this.#send([{ id: due.messageId, ...content }], due.failures, 'any', (own) => {
        result = own;
      });
    }
    if (!result) return false;
    const final = result;
    return this.#record([final], (sql) => recordRetry(sql, this.webhook, owner, due, final));
  }

  /** Sends messages in one batch when a slot is free. Sends nothing if the types of the webhook are not `types` any more. */
  #send(
    messages: readonly (MessageContent & { id: string })[],
    failures: number,
    types: WebhookSettings['types'] | 'any',
    onResult: (result: AttemptResult, settings: WebhookSettings) => void,
  ): Promise<void> {
    const { db, slots, clock, random, sendBatch, key } = this.#context;
    return slots.run(this.webhook.workspaceId, async () => {
      const asOf = Atomics.load(this.#version, 0);
      if (clock() >= this.#leaseUntilMs) await this.#renew();
      else this.#settings = await readSettings(db.read, this.webhook);
      const settings = this.#settings;
      if (!this.#maySend || (types !== 'any' && !isSameTypes(types, settings.types))) return;
      this.#cancelIdleTimer();
      let { failingSinceMs } = settings;
      const onAttempt = ({ startedAtMs, outcome }: FinishedAttempt) => {
        const times = { startedAtMs, endedAtMs: clock() };
        const result = resultOf(outcome, { failures, failingSinceMs, ...times, random: random() });
        if (result.receiver === 'healthy') failingSinceMs = undefined;
        onResult({ ...result, url: settings.url }, settings);
      };
      if (!key.isFor(settings.salt)) return onAttempt({ startedAtMs: clock(), outcome: secretLost });
      const secrets = secretsOf(settings, key, clock());
      const { url } = settings;
      const traced = traceAttempts(messages, { webhookId: this.webhook.id, url, failures });
      const batch = { url, secrets, messages: traced.messages, version: this.#version, asOf };
      await sendBatch(batch, this.#abortController.signal, (attempt) => {
        traced.end(attempt.outcome);
        onAttempt(attempt);
      });
    });
  }

  /** Writes results, and tries again while the storage is unavailable, because attempts without a result would be repeated. */
  async #record(
    results: readonly AttemptResult[],
    write: (sql: Transaction) => Promise<WebhookSettings>,
  ): Promise<boolean> {
    const { db, clock } = this.#context;
    const { signal } = this.#abortController;
    const wasEnabled = this.#settings.enabled;
    for (;;) {
      try {
        this.#settings = await db.write(write, { atMs: clock(), workspaceId: this.webhook.workspaceId });
        for (const result of results) this.#report(resultFor(this.#settings.url, result), wasEnabled);
        return true;
      } catch (error) {
        if (!(error instanceof StorageUnavailableError)) throw error;
        if (signal.aborted) return false;
        await sleep(retryWriteMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #recordFirstAttempts(): Promise<void> {
    const attempts = [...this.#unrecorded];
    if (attempts.length === 0) return;
    const results = attempts.map(({ result }) => result);
    const write = (sql: Transaction) => recordFirstAttempts(sql, this.webhook, this.#context.owner, attempts);
    const isWritten = await this.#record(results, write).catch((error) => this.#fail(error));
    if (isWritten) this.#unrecorded.splice(0, attempts.length);
  }

  /** Counts a result, and reports a webhook that it disabled. */
  #report({ state, disable }: AttemptResult, wasEnabled: boolean): void {
    const { counts, changes, log } = this.#context;
    counts[state === 'delivered' ? 'delivered' : state === 'pending' ? 'failed' : 'givenUp']++;
    if (!disable || !wasEnabled) return;
    counts.disabled[disable]++;
    const { workspaceId, id: webhookId } = this.webhook;
    changes.notify(workspaceId);
    // Path and query of a URL may contain a secret.
    const { host } = new URL(this.#settings.url);
    log.info({ workspaceId, webhookId, host, reason: disable }, 'a webhook was disabled');
  }

  /** Handles an error of a task: a lost lease, an unavailable storage, or an error of this program. */
  #fail(error: unknown): void {
    if (error instanceof StorageUnavailableError) return;
    // An ApiError means that the workspace was deleted.
    if (!(error instanceof LeaseLostError || error instanceof ApiError)) {
      this.#hasFailed = true;
      this.#context.log.error({ err: error, ...this.webhook }, 'the messages of a webhook cannot be sent');
    }
    this.abort();
  }

  #finish(run: Promise<void>): void {
    this.#running.delete(run);
    if (!this.isIdle) return;
    const { idleMs = defaultIdleMs } = this.#context;
    if (this.#maySend) this.#idleTimer ??= setTimeout(() => this.#releaseIfIdle(), idleMs).unref();
    else this.#releaseIfIdle();
  }

  #cancelIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
  }

  #releaseIfIdle(): void {
    this.#cancelIdleTimer();
    if (!this.isIdle || this.#isReleasing) return;
    this.#isReleasing = true;
    void this.#release();
  }

  async #release(): Promise<void> {
    const { db, clock, owner } = this.#context;
    const untilMs = clock() - leaseMs;
    // After an error of this program, or while the storage is unavailable, the lease is not released. It expires.
    if (!this.#hasFailed) {
      await db
        .write((sql) =>
          updateLease(sql, this.webhook, { owner, untilMs, isReleased: true }, this.#recordedPosition),
        )
        .catch((error) => this.#fail(error));
    }
    this.hasEnded = true;
    this.#ending.resolve();
  }
}
