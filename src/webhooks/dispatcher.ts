import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageUnavailableError } from '../errors.ts';
import { Endpoint, leaseMs } from './endpoint.ts';
import { attemptMs } from './send.ts';
import type { DeliveryCounts, Sending } from './sending.ts';
import { Slots } from './slots.ts';
import { findWork, overview, takeLease, type WebhookRef } from './work.ts';

const tickMs = 250;
/** The storage is asked whether there are webhooks at every so many ticks. */
const ticksPerOverview = 4;
/** After a question the next one waits for so long, however much is written. */
const breathMs = 20;
/** What is under way at a stop gets so long to end by itself, which every attempt does: else it would be made twice. */
const usualGraceMs = attemptMs + 1_000;
const attemptsAtOnce = 64;
/** So that receivers of one workspace that never answer hold up no other. */
const attemptsPerWorkspace = 8;
/** How many webhooks an instance works on; those behind wait for their turn, or go to other instances. */
const [maxHeld, maxHeldPerWorkspace] = [256, 8];

/** Calls `work` again and again, and returns a function that ends it. */
export type Ticker = (work: () => void, everyMs: number) => () => void;

export const realTicker: Ticker = (work, everyMs) => {
  const timer = setInterval(work, everyMs).unref();
  return () => clearInterval(timer);
};

interface Parts extends Omit<Sending, 'owner' | 'slots' | 'counts'> {
  ticker: Ticker;
  /** How long attempts under way may take at a stop, after which they are broken off. */
  graceMs?: number;
}

/**
 * Sends events to webhooks, beside other instances that do the same. Each webhook is worked on by one of them at a time,
 * which holds it by a lease.
 */
export class Dispatcher {
  /** By how many events the slowest enabled webhook is behind, as it was a second ago. */
  lag = 0;
  readonly counts: DeliveryCounts = {
    ...{ delivered: 0, failed: 0, givenUp: 0 },
    disabled: { gone: 0, failing: 0 },
  };
  readonly #parts: Parts;
  readonly #sending: Sending;
  readonly #held = new Map<string, Endpoint>();
  #endings: (() => void)[] = [];
  #ticks = 0;
  #isOverviewDue = false;
  /** Those with enabled webhooks. */
  #workspaces: ReadonlySet<number> = new Set();
  #isAskedAgain = false;
  #asking: Promise<void> | undefined;
  #isStopping = false;
  #isAway = false;
  #lost = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sending = {
      ...parts,
      owner: randomUUID(),
      slots: new Slots(attemptsAtOnce, attemptsPerWorkspace),
      counts: this.counts,
    };
  }

  start(): void {
    const { ticker, changes } = this.#parts;
    this.#endings = [
      ticker(() => this.#tick(), tickMs),
      changes.subscribe((workspaceId) => {
        if (this.#workspaces.has(workspaceId)) this.#ask();
      }),
    ];
  }

  /** Takes up what is due by now, and resolves once nothing is under way. */
  async catchUp(): Promise<void> {
    await this.#attempt(() => this.#look());
    if (this.#workspaces.size === 0) return;
    this.#ask();
    await this.#asking;
    await Promise.all([...this.#held.values()].map((endpoint) => endpoint.rested()));
  }

  /** Begins nothing more, lets what is under way end, breaks off what takes long, and leaves all webhooks to others. */
  async stop(graceMs = this.#parts.graceMs ?? usualGraceMs): Promise<void> {
    this.#isStopping = true;
    for (const end of this.#endings) end();
    await this.#asking;
    const held = [...this.#held.values()];
    for (const endpoint of held) endpoint.stop();
    const ended = Promise.all(held.map((endpoint) => endpoint.ended));
    const timer = setTimeout(() => {
      for (const endpoint of held) endpoint.abort();
    }, graceMs);
    await ended;
    clearTimeout(timer);
  }

  #tick(): void {
    const nowMs = this.#parts.clock();
    for (const endpoint of this.#held.values()) void endpoint.renewWhenDue(nowMs);
    if (this.#ticks++ % ticksPerOverview === 0) this.#isOverviewDue = true;
    if (this.#isOverviewDue || this.#workspaces.size > 0) this.#ask();
  }

  /** Asks the storage what there is to do, now or as soon as the question under way is answered. */
  #ask(): void {
    this.#isAskedAgain = true;
    this.#asking ??= this.#askOn().finally(() => {
      this.#asking = undefined;
    });
  }

  async #askOn(): Promise<void> {
    while (this.#isAskedAgain && !this.#isStopping) {
      this.#isAskedAgain = false;
      await this.#attempt(async () => {
        if (this.#isOverviewDue) await this.#look();
        if (this.#workspaces.size > 0) await this.#takeUp();
      });
      await sleep(breathMs);
    }
  }

  /** While the storage is away, the next tick tries again. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    const { log } = this.#parts;
    try {
      await work();
      this.#isAway = false;
    } catch (err) {
      if (!(err instanceof StorageUnavailableError)) log.error({ err }, 'looking for what to send failed');
      else if (!this.#isAway) log.warn({ err }, 'nothing is sent to webhooks while the storage is away');
      this.#isAway = err instanceof StorageUnavailableError;
    }
  }

  async #look(): Promise<void> {
    const { db, key, log } = this.#parts;
    const { workspaces, lag, lost } = await overview(db.read, key);
    if (lost > this.#lost)
      log.error({ webhooks: lost }, 'the secret key is not the one with which secrets of webhooks were made');
    this.#lost = lost;
    this.#isOverviewDue = false;
    this.#workspaces = workspaces;
    this.lag = lag;
  }

  async #takeUp(): Promise<void> {
    const { db, clock } = this.#parts;
    const nowMs = clock();
    for (const [name, endpoint] of this.#held)
      if (endpoint.isOver && !endpoint.isResting(nowMs)) this.#held.delete(name);
    const bounds = { limit: 2 * maxHeld, perWorkspace: 2 * maxHeldPerWorkspace };
    const work = await findWork(db.read, this.#sending.owner, nowMs, bounds);
    for (const webhook of work) this.#held.get(nameOf(webhook))?.advance();
    const others = work.filter((webhook) => !this.#held.has(nameOf(webhook)));
    const taken = this.#thoseWithRoom(others);
    if (taken.length < others.length)
      for (const endpoint of this.#held.values())
        if (endpoint.isIdle || endpoint.turnUntilMs <= nowMs) endpoint.stop();
    await Promise.all(taken.map((webhook) => this.#take(webhook)));
  }

  /** What may be taken beside what is held. */
  #thoseWithRoom(others: WebhookRef[]): WebhookRef[] {
    const counts = new Map<number, number>();
    const count = (workspaceId: number) => {
      counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1);
      return counts.get(workspaceId) as number;
    };
    for (const { webhook } of this.#held.values()) count(webhook.workspaceId);
    return others
      .filter(({ workspaceId }) => count(workspaceId) <= maxHeldPerWorkspace)
      .slice(0, maxHeld - this.#held.size);
  }

  async #take(webhook: WebhookRef): Promise<void> {
    const { db, clock } = this.#parts;
    const nowMs = clock();
    const lease = { owner: this.#sending.owner, untilMs: nowMs + leaseMs };
    const settings = await db.write((sql) => takeLease(sql, webhook, lease, nowMs));
    if (!settings) return;
    const endpoint = new Endpoint(webhook, settings, lease.untilMs, this.#sending);
    this.#held.set(nameOf(webhook), endpoint);
    endpoint.advance();
  }
}

const nameOf = ({ workspaceId, id }: WebhookRef) => `${workspaceId}/${id}`;
