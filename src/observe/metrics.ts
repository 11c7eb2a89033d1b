import type { Decision } from '../access/limits/decision.ts';
import type { Sharing } from '../access/limits/limiter.ts';
import type { Database } from '../db/database.ts';
import { durationBounds, Histogram } from '../foundation/histogram.ts';
import { memoize } from '../foundation/promises.ts';
import { type Plan, planNames } from '../foundation/settings/plans.ts';
import { version } from '../foundation/version.ts';
import type { Operation } from '../http/operation.ts';
import type { Dispatcher } from '../store/webhooks/dispatcher.ts';
import type { DeprecatedCalls } from './deprecation.ts';
import type { Exposition } from './exposition.ts';
import type { RequestOutcome } from './request-outcome.ts';

type Account = Plan | 'none';

/** The responses of an operation. */
interface Traffic {
  byStatus: Map<number, number>;
  seconds: Histogram;
}

/** Log lines that were not written, by reason. */
interface MissingLines {
  repeated: number;
  unread: number;
}

/** What the metrics read when they are requested. */
export interface MetricSources {
  /** The operations that are served. */
  operations: readonly Pick<Operation, 'id' | 'success' | 'deprecated'>[];
  /** The faults that keys may rehearse. */
  faults: readonly string[];
  db: Pick<Database, 'counts' | 'measured'>;
  /** Whether `/readyz` would return 200 now. */
  isReady: () => Promise<boolean>;
  deprecated: Pick<DeprecatedCalls, 'uses'>;
  missingLines: () => MissingLines;
  openStreams: () => number;
  /** If limits are shared. */
  sharing?: Readonly<Sharing> | undefined;
  /** What sends to webhooks. */
  deliveries?: Readonly<Pick<Dispatcher, 'counts' | 'lag'>> | undefined;
}

/** Alerts look for the first response with such a status, so its series is there before. */
const failures = [500, 503];

/** The metrics of the service, for Prometheus. No label contains a key, an id or an address. */
export class Metrics {
  // Plain numbers that are published when they are asked for: a counter with labels would cost every request more than
  // its limit decision does.
  readonly #traffic = new Map<string, Traffic>();
  readonly #decisions = forEachAccount(() => ({ admitted: 0, limited: 0, banned: 0 }));
  readonly #bans = forEachAccount(() => 0);
  /** Responses that faults of rehearsals changed, by fault. */
  readonly #rehearsed: Map<string, number>;
  readonly #isReady: MetricSources['isReady'];
  #ready = false;
  readonly #exposition: () => Promise<Exposition>;

  constructor(sources: MetricSources) {
    for (const { id, success } of sources.operations) this.#expect(id, [success.status, ...failures]);
    this.#expect('none', failures);
    this.#rehearsed = new Map(sources.faults.map((fault) => [fault, 0]));
    this.#isReady = sources.isReady;
    this.#exposition = memoize(() => this.#publish(sources));
  }

  /** Loads prom-client, which only the metrics need. Its own metrics count from then on. */
  async #publish(sources: MetricSources): Promise<Exposition> {
    const { openExposition } = await import('./exposition.ts');
    const exposition = await openExposition();
    this.#publishState(exposition, sources);
    this.#publishRequests(exposition, sources);
    this.#publishStorage(exposition, sources);
    if (sources.sharing) this.#publishSharing(exposition, sources.sharing);
    if (sources.deliveries) this.#publishDeliveries(exposition, sources.deliveries);
    return exposition;
  }

  #publishState(exposition: Exposition, { missingLines, openStreams }: MetricSources): void {
    exposition.gauge(
      'petstore_build_info',
      'Always 1. The label has the version of Petstore.',
      ['version'],
      (set) => set({ version }, 1),
    );
    exposition.gauge('petstore_ready', 'Whether /readyz would return 200 now (1) or not (0).', [], (set) =>
      set({}, Number(this.#ready)),
    );
    exposition.gauge('petstore_open_streams', 'Event streams that are open now.', [], (set) =>
      set({}, openStreams()),
    );
    exposition.counter(
      'petstore_log_lines_dropped_total',
      'Log lines that were not written, because they repeat others or because nobody read the log in time.',
      ['reason'],
      (set) => {
        for (const [reason, n] of Object.entries(missingLines())) set({ reason }, n);
      },
    );
  }

  #publishRequests(exposition: Exposition, { deprecated, operations }: MetricSources): void {
    exposition.counter(
      'petstore_requests_total',
      'Requests with a response. /healthz, /readyz and /metrics are not counted.',
      ['operation', 'status'],
      (set) => {
        for (const [operation, { byStatus }] of this.#traffic)
          for (const [status, n] of byStatus) set({ operation, status: String(status) }, n);
      },
    );
    exposition.histogram(
      'petstore_request_duration_seconds',
      'Time from when a request is handled to the end of its response, by operation. Streams are not measured.',
      () => [...this.#traffic].map(([operation, { seconds }]) => [{ operation }, seconds]),
    );
    exposition.counter(
      'petstore_limit_decisions_total',
      'Decisions of the rate limits, by plan; the plan none is for requests without a valid key.',
      ['plan', 'outcome'],
      (set) => {
        for (const [plan, outcomes] of Object.entries(this.#decisions))
          for (const [outcome, n] of Object.entries(outcomes)) set({ plan, outcome }, n);
      },
    );
    exposition.counter('petstore_bans_total', 'Bans that began, by plan.', ['plan'], (set) => {
      for (const [plan, n] of Object.entries(this.#bans)) set({ plan }, n);
    });
    exposition.counter(
      'petstore_rehearsed_answers_total',
      'Responses that a rehearsed fault changed. No other metric counts them.',
      ['fault'],
      (set) => {
        for (const [fault, n] of this.#rehearsed) set({ fault }, n);
      },
    );
    const usesOf = () =>
      operations
        .filter((operation) => operation.deprecated)
        .map(({ id }) => [{ operation: id }, deprecated.uses.get(id)] as const);
    exposition.counter(
      'petstore_deprecated_requests_total',
      'Admitted requests to deprecated operations.',
      ['operation'],
      (set) => {
        for (const [labels, use] of usesOf()) set(labels, use?.calls ?? 0);
      },
    );
    exposition.gauge(
      'petstore_deprecated_callers',
      'Keys that called a deprecated operation today (UTC). The log names them.',
      ['operation'],
      (set) => {
        for (const [labels, use] of usesOf()) set(labels, use?.callers.size ?? 0);
      },
    );
  }

  #publishStorage(exposition: Exposition, { db: { counts, measured } }: MetricSources): void {
    exposition.counter(
      'petstore_storage_operations_total',
      'Storage operations, by kind.',
      ['kind'],
      (set) => {
        for (const [kind, n] of Object.entries(counts)) set({ kind }, n);
      },
    );
    exposition.counter('petstore_events_total', 'Events written.', [], (set) => set({}, counts.records));
    exposition.gauge('petstore_writes_waiting', 'Writes that wait in the queue now.', [], (set) =>
      set({}, measured.writesWaiting()),
    );
    exposition.histogram('petstore_commit_writes', 'Number of writes in each transaction.', () => [
      [{}, measured.groupSizes],
    ]);
    exposition.histogram(
      'petstore_commit_duration_seconds',
      'Time from when a group of writes starts, after its wait in the queue, to the end of its transaction. Includes the wait for a connection, and repeated runs.',
      () => [[{}, measured.groupSeconds]],
    );
    const { postgres } = measured;
    if (!postgres) return;
    exposition.histogram(
      'petstore_postgres_read_duration_seconds',
      'Time of a read. Includes the wait for a connection.',
      () => [[{}, postgres.readSeconds]],
    );
    const pools = () => Object.entries(postgres.connections());
    exposition.gauge(
      'petstore_postgres_connections',
      'Open connections to PostgreSQL, by pool (reads, writes) and state (in_use, idle).',
      ['pool', 'state'],
      (set) => {
        for (const [pool, { inUse, idle }] of pools()) {
          set({ pool, state: 'in_use' }, inUse);
          set({ pool, state: 'idle' }, idle);
        }
      },
    );
    exposition.gauge(
      'petstore_postgres_waiting',
      'Groups of reads or of writes that wait for a connection to PostgreSQL now, by pool.',
      ['pool'],
      (set) => {
        for (const [pool, { waiting }] of pools()) set({ pool }, waiting);
      },
    );
  }

  #publishSharing(exposition: Exposition, sharing: Readonly<Sharing>): void {
    exposition.gauge(
      'petstore_limits_shared',
      'Whether limits are shared through Valkey now (1), or this instance applies them on its own (0).',
      [],
      (set) => set({}, Number(sharing.isShared)),
    );
    exposition.counter(
      'petstore_limits_fallbacks_total',
      'Limit decisions that this instance made alone, because Valkey was unreachable.',
      [],
      (set) => set({}, sharing.fallbacks),
    );
    exposition.counter('petstore_valkey_round_trips_total', 'Round trips to Valkey.', [], (set) =>
      set({}, sharing.roundTrips),
    );
    exposition.histogram(
      'petstore_valkey_duration_seconds',
      'Duration of limit decisions in Valkey. Includes decisions that failed or timed out.',
      () => [[{}, sharing.seconds]],
    );
  }

  #publishDeliveries(exposition: Exposition, deliveries: NonNullable<MetricSources['deliveries']>): void {
    exposition.counter(
      'petstore_webhook_attempts_total',
      'Requests to webhooks, by outcome: delivered, failed (tried again later) or given_up.',
      ['outcome'],
      (set) => {
        const { delivered, failed, givenUp } = deliveries.counts;
        set({ outcome: 'delivered' }, delivered);
        set({ outcome: 'failed' }, failed);
        set({ outcome: 'given_up' }, givenUp);
      },
    );
    exposition.counter(
      'petstore_webhooks_disabled_total',
      'Webhooks that the service disabled.',
      ['reason'],
      (set) => {
        for (const [reason, n] of Object.entries(deliveries.counts.disabled)) set({ reason }, n);
      },
    );
    exposition.counter(
      'petstore_webhook_missed_events_total',
      'Events that were removed before their webhook received them.',
      [],
      (set) => set({}, deliveries.counts.missed),
    );
    exposition.gauge(
      'petstore_webhook_lag_events',
      'Number of events that were not sent yet to the slowest enabled webhook. Every instance reports the same webhook, no matter which instance sends to it.',
      [],
      (set) => set({}, deliveries.lag),
    );
  }

  /** Counts a response; under `none` if the request is for no operation or could not be read. */
  countAnswer({ operation, status, durationMs, faults }: RequestOutcome): void {
    if (faults && faults.length > 0) {
      for (const fault of faults) this.#rehearsed.set(fault, (this.#rehearsed.get(fault) ?? 0) + 1);
      return;
    }
    const name = operation?.id ?? 'none';
    const { byStatus, seconds } = this.#traffic.get(name) ?? this.#expect(name, []);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    // How long a stream lasted says nothing about how fast its response came.
    if (durationMs === undefined || (operation?.success.kind === 'stream' && status === 200)) return;
    seconds.observe(durationMs / 1_000);
  }

  /** Counts a limit decision on a key of some plan, or on an address. */
  countDecision(account: Account, { outcome, isNewBan }: Decision): void {
    this.#decisions[account][outcome]++;
    if (isNewBan) this.#bans[account]++;
  }

  /** All metrics in the text format of Prometheus. */
  async text(): Promise<{ contentType: string; text: Buffer }> {
    const exposition = await this.#exposition();
    // It writes, so it comes before the other metrics, which would show it.
    this.#ready = await this.#isReady();
    return { contentType: exposition.contentType, text: Buffer.from(await exposition.text()) };
  }

  /** Makes the series of an operation, so that they are 0 before they are counted. */
  #expect(operation: string, statuses: number[]): Traffic {
    const traffic = {
      byStatus: new Map(statuses.map((status) => [status, 0])),
      seconds: new Histogram(durationBounds),
    };
    this.#traffic.set(operation, traffic);
    return traffic;
  }
}

const forEachAccount = <Counts>(zero: () => Counts) =>
  Object.fromEntries([...planNames, 'none'].map((account) => [account, zero()])) as Record<Account, Counts>;
