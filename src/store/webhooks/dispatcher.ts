import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageUnavailableError } from '../../foundation/errors.ts';
import { Slots } from '../../foundation/fair-slots.ts';
import { coalesce } from '../../foundation/promises.ts';
import { DeliveryWorker, type WorkerContext } from './delivery-worker.ts';
import { acquireLease, findWork, leaseMs, readOverview, type WebhookRef } from './lease-store.ts';
import { newDeliveryCounts } from './retry-policy.ts';
import { attemptTimeoutMs } from './send-request.ts';

const tickMs = 250;
/** The overview of webhooks is read once in this many ticks. */
const ticksPerOverview = 4;
const pollPauseMs = 20;
/** How long attempts in flight may take at a stop. No attempt takes as long, because an aborted attempt would be repeated. */
const defaultGraceMs = attemptTimeoutMs + 1_000;
/** With the second limit, receivers of one workspace that never respond do not block others. */
const [maxAttempts, maxAttemptsPerWorkspace] = [64, 8];
/** The maximum number of webhooks that an instance leases. Other webhooks wait, or other instances lease them. */
const [maxWorkers, maxWorkersPerWorkspace] = [256, 8];

/** Calls `work` again and again. Returns a function that stops it. */
export type Ticker = (work: () => void, everyMs: number) => () => void;

export const realTicker: Ticker = (work, everyMs) => {
  const timer = setInterval(work, everyMs).unref();
  return () => clearInterval(timer);
};

interface DispatcherOptions extends Omit<WorkerContext, 'owner' | 'slots' | 'counts'> {
  ticker: Ticker;
  /** How long attempts in flight may take at a stop, before they are aborted. */
  graceMs?: number;
  /** Whether no other instance can be running on the storage. */
  isAlone?: boolean;
}

/**
 * Finds webhooks with something to send, leases them, and runs a worker for each. Other instances do the same at the same time. A
 * message passes through delivery-worker, sender, send-batch and send-request. Its result passes through retry-policy and
 * result-store.
 */
export class Dispatcher {
  /** How many events the slowest enabled webhook was behind at the last check, about a second ago. */
  lag = 0;
  readonly counts = newDeliveryCounts();
  readonly #options: DispatcherOptions;
  readonly #context: WorkerContext;
  readonly #workers = new Map<string, DeliveryWorker>();
  #stops: (() => void)[] = [];
  #ticks = 0;
  #isOverviewDue = false;
  #workspaces: ReadonlySet<number> = new Set();
  #isStopping = false;
  #isStorageAway = false;
  #lostSecrets = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#context = {
      ...options,
      owner: randomUUID(),
      slots: new Slots(maxAttempts, maxAttemptsPerWorkspace),
      counts: this.counts,
    };
  }

  start(): void {
    const { ticker, changes } = this.#options;
    this.#stops = [
      ticker(() => this.#tick(), tickMs),
      changes.subscribe((workspaceId, ofWebhooks) => {
        if (ofWebhooks) this.settingsChanged(workspaceId);
        if (this.#isOverviewDue || this.#workspaces.has(workspaceId)) void this.#poll();
      }),
    ];
  }

  /** Sends what is due now. Resolves once nothing is in flight. */
  async catchUp(): Promise<void> {
    await this.#attempt(() => this.#readOverview());
    if (this.#workspaces.size > 0) await this.#poll();
    await Promise.all([...this.#workers.values()].map((worker) => worker.whenIdle()));
  }

  /** Makes later attempts use the current settings of the webhooks of a workspace, or of all webhooks. */
  settingsChanged(workspaceId?: number): void {
    for (const worker of this.#workers.values())
      if (workspaceId === undefined || worker.webhook.workspaceId === workspaceId)
        worker.invalidateSettings();
    this.#isOverviewDue = true;
  }

  /** Starts no further attempt, waits for those in flight, aborts them after `graceMs`, and releases all leases. */
  async stop(graceMs = this.#options.graceMs ?? defaultGraceMs): Promise<void> {
    this.#isStopping = true;
    for (const stop of this.#stops) stop();
    for (const worker of this.#workers.values()) worker.stop();
    await this.#poll();
    // A poll in flight may have started further workers.
    const workers = [...this.#workers.values()];
    for (const worker of workers) worker.stop();
    const timer = setTimeout(() => {
      for (const worker of workers) worker.abort();
    }, graceMs);
    await Promise.all(workers.map((worker) => worker.ended));
    clearTimeout(timer);
  }

  #tick(): void {
    const nowMs = this.#options.clock();
    for (const worker of this.#workers.values()) worker.renewWhenDue(nowMs);
    if (this.#ticks++ % ticksPerOverview === 0) this.#isOverviewDue = true;
    if (this.#isOverviewDue || this.#workspaces.size > 0) void this.#poll();
  }

  /** Polls the storage for work, now or after the poll in flight. */
  readonly #poll = coalesce(async () => {
    if (this.#isStopping) return;
    await this.#attempt(async () => {
      if (this.#isOverviewDue) await this.#readOverview();
      if (this.#workspaces.size > 0) await this.#startWorkers();
    });
    await sleep(pollPauseMs);
  });

  /** Logs errors. The next tick tries again. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    const { log } = this.#options;
    try {
      await work();
      this.#isStorageAway = false;
    } catch (err) {
      if (!(err instanceof StorageUnavailableError))
        log.error({ err }, 'the next messages to webhooks cannot be found');
      else if (!this.#isStorageAway)
        log.warn({ err }, 'nothing is sent to webhooks while the storage is unavailable');
      this.#isStorageAway = err instanceof StorageUnavailableError;
    }
  }

  async #readOverview(): Promise<void> {
    const { db, key, log } = this.#options;
    this.#isOverviewDue = false;
    const { workspaces, lag, lost } = await readOverview(db.read, key);
    if (lost > this.#lostSecrets)
      log.error(
        { webhooks: lost },
        'the secret key differs from the one that created the secrets of these webhooks',
      );
    this.#lostSecrets = lost;
    this.#workspaces = workspaces;
    this.lag = lag;
  }

  /** Wakes the workers that have something to send, and starts others. If there is no room, workers whose turn is over stop. */
  async #startWorkers(): Promise<void> {
    const { db, clock } = this.#options;
    const nowMs = clock();
    for (const [name, worker] of this.#workers)
      if (worker.hasEnded && !worker.isBlocked(nowMs)) this.#workers.delete(name);
    const bounds = { limit: 2 * maxWorkers, perWorkspace: 2 * maxWorkersPerWorkspace };
    const work = await findWork(db.read, this.#instance, nowMs, bounds);
    for (const webhook of work) {
      const worker = this.#workers.get(nameOf(webhook));
      worker?.advance();
      // A worker that releases its lease starts no further attempts. The next worker can start when it has ended.
      if (worker?.isEnding) void worker.ended.then(() => this.#poll());
    }
    const waiting = work.filter((webhook) => !this.#workers.has(nameOf(webhook)));
    const chosen = this.#thoseWithRoom(waiting);
    if (chosen.length < waiting.length)
      for (const worker of this.#workers.values())
        if (worker.isIdle || worker.isTurnOver(nowMs)) worker.stop();
    await Promise.all(chosen.map((webhook) => this.#startWorker(webhook)));
  }

  /** The waiting webhooks for which there is room in addition to the running workers. */
  #thoseWithRoom(waiting: WebhookRef[]): WebhookRef[] {
    const counts = new Map<number, number>();
    const count = (workspaceId: number) => {
      const sum = (counts.get(workspaceId) ?? 0) + 1;
      counts.set(workspaceId, sum);
      return sum;
    };
    for (const { webhook } of this.#workers.values()) count(webhook.workspaceId);
    return waiting
      .filter(({ workspaceId }) => count(workspaceId) <= maxWorkersPerWorkspace)
      .slice(0, maxWorkers - this.#workers.size);
  }

  get #instance() {
    return { owner: this.#context.owner, isAlone: this.#options.isAlone ?? false };
  }

  async #startWorker(webhook: WebhookRef): Promise<void> {
    const { db, clock } = this.#options;
    const nowMs = clock();
    const settings = await db.write((sql) => acquireLease(sql, webhook, this.#instance, nowMs));
    if (!settings) return;
    const worker = new DeliveryWorker(webhook, settings, nowMs + leaseMs, this.#context);
    this.#workers.set(nameOf(webhook), worker);
    worker.advance();
  }
}

const nameOf = ({ workspaceId, id }: WebhookRef) => `${workspaceId}/${id}`;
