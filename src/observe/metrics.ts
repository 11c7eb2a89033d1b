import { Counter, collectDefaultMetrics, Gauge, type Histogram, Registry } from 'prom-client';
import type { StorageCounts } from '../db/database.ts';
import type { Decision } from '../limits/decision.ts';
import type { Sharing } from '../limits/limiter.ts';
import { type Plan, planNames } from '../limits/plans.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';
import type { DeprecatedCalls } from './deprecation.ts';
import type { RequestOutcome } from './request-outcome.ts';

const latencyBucketsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

type Account = Plan | 'none';
type Labels = Record<string, string>;

/** The answers of an operation. */
interface Traffic {
  byStatus: Map<number, number>;
  /** The count of each bucket, without those of smaller buckets; then the count above all buckets. */
  byLatency: number[];
  seconds: number;
}

/** Log lines that were not written, by reason. */
interface MissingLines {
  repeated: number;
  unread: number;
}

/** The counts of the dispatcher of webhooks. */
type Deliveries = Readonly<Pick<Dispatcher, 'counts' | 'lag'>>;

let collected: Registry | undefined;

/** The metrics of the process. All its services share one registry, because its collectors cannot be stopped. */
function ofProcess(): Registry {
  if (!collected) {
    collected = new Registry();
    collectDefaultMetrics({ register: collected });
  }
  return collected;
}

/** What the service counts, for Prometheus. No label holds a key, an id or an address. */
export class Metrics {
  // Plain numbers that are published when they are asked for: a counter with labels would cost every request more than
  // its limit decision does.
  readonly #traffic = new Map<string, Traffic>();
  readonly #decisions = forEachAccount(() => ({ admitted: 0, limited: 0, banned: 0 }));
  readonly #bans = forEachAccount(() => 0);
  /** Answers that faults of rehearsals touched, by fault. */
  readonly #rehearsed = new Map<string, number>();
  readonly #registry = Registry.merge([ofProcess()]);

  /**
   * `storage`, `missingLines`, `openStreams` and, if there are such, `sharing` of limits and `deliveries` to webhooks are called
   * for their counts when the metrics are requested.
   */
  constructor(
    storage: Readonly<StorageCounts>,
    deprecated: Pick<DeprecatedCalls, 'uses'>,
    missingLines: () => MissingLines,
    openStreams: () => number,
    sharing?: Readonly<Sharing>,
    deliveries?: Deliveries,
  ) {
    this.#publish('petstore_requests_total', 'Answered requests.', ['operation', 'status'], (count) => {
      for (const [operation, { byStatus }] of this.#traffic) {
        for (const [status, n] of byStatus) count({ operation, status: String(status) }, n);
      }
    });
    this.#publishLatency();
    this.#publish('petstore_limit_decisions_total', 'Limit decisions.', ['plan', 'outcome'], (count) => {
      for (const [plan, outcomes] of Object.entries(this.#decisions)) {
        for (const [outcome, n] of Object.entries(outcomes)) count({ plan, outcome }, n);
      }
    });
    this.#publish('petstore_bans_total', 'Bans that began.', ['plan'], (count) => {
      for (const [plan, n] of Object.entries(this.#bans)) count({ plan }, n);
    });
    this.#publish(
      'petstore_deprecated_requests_total',
      'Admitted calls of deprecated operations.',
      ['operation'],
      (count) => {
        for (const [operation, { calls }] of deprecated.uses) count({ operation }, calls);
      },
    );
    this.#publish(
      'petstore_deprecated_callers',
      'Keys that called a deprecated operation today (UTC). The log names them.',
      ['operation'],
      (count) => {
        for (const [operation, { callers }] of deprecated.uses) count({ operation }, callers.size);
      },
      Gauge,
    );
    this.#publish('petstore_storage_operations_total', 'Work of the storage.', ['kind'], (count) => {
      for (const [kind, n] of Object.entries(storage)) count({ kind }, n);
    });
    this.#publish(
      'petstore_log_lines_dropped_total',
      'Lines missing in the log, because they repeat others or because nobody read them in time.',
      ['reason'],
      (count) => {
        for (const [reason, n] of Object.entries(missingLines())) count({ reason }, n);
      },
    );
    this.#publish('petstore_events_total', 'Events written.', [], (count) => count({}, storage.records));
    this.#publish(
      'petstore_open_streams',
      'Streams open now.',
      [],
      (count) => count({}, openStreams()),
      Gauge,
    );
    this.#publish(
      'petstore_rehearsed_answers_total',
      'Answers that a fault of a rehearsal touched. They are counted nowhere else.',
      ['fault'],
      (count) => {
        for (const [fault, n] of this.#rehearsed) count({ fault }, n);
      },
    );
    if (sharing) this.#publishSharing(sharing);
    if (deliveries) this.#publishDeliveries(deliveries);
  }

  #publishDeliveries(deliveries: Deliveries): void {
    this.#publish(
      'petstore_webhook_attempts_total',
      'Requests to webhooks: delivered, failed and tried again later, or given up.',
      ['outcome'],
      (count) => {
        const { delivered, failed, givenUp } = deliveries.counts;
        count({ outcome: 'delivered' }, delivered);
        count({ outcome: 'failed' }, failed);
        count({ outcome: 'given_up' }, givenUp);
      },
    );
    this.#publish(
      'petstore_webhooks_disabled_total',
      'Webhooks that the service disabled.',
      ['reason'],
      (count) => {
        for (const [reason, n] of Object.entries(deliveries.counts.disabled)) count({ reason }, n);
      },
    );
    this.#publish(
      'petstore_webhook_missed_events_total',
      'Events that a webhook never gets, because they were no longer kept when their turn came.',
      [],
      (count) => count({}, deliveries.counts.missed),
    );
    this.#publish(
      'petstore_webhook_lag_events',
      'Events that the slowest enabled webhook has not been sent yet, whichever instance sends to it.',
      [],
      (count) => count({}, deliveries.lag),
      Gauge,
    );
  }

  #publishSharing(sharing: Readonly<Sharing>): void {
    new Gauge({
      name: 'petstore_limits_shared',
      help: 'Whether limits are shared through Valkey now (1), or this instance limits on its own (0).',
      registers: [this.#registry],
      collect() {
        this.set(Number(sharing.isShared));
      },
    });
    this.#publish(
      'petstore_limits_fallbacks_total',
      'Limit decisions made by this instance alone while Valkey was away.',
      [],
      (count) => count({}, sharing.fallbacks),
    );
    this.#publish('petstore_valkey_round_trips_total', 'Round trips to Valkey.', [], (count) =>
      count({}, sharing.roundTrips),
    );
  }

  /** Counts an answer; under `none` if the request is for no operation or could not be read. */
  countAnswer({ operation, status, durationMs, faults }: RequestOutcome): void {
    if (faults && faults.length > 0) {
      for (const fault of faults) this.#rehearsed.set(fault, (this.#rehearsed.get(fault) ?? 0) + 1);
      return;
    }
    const name = operation?.id ?? 'none';
    let traffic = this.#traffic.get(name);
    if (!traffic) {
      traffic = {
        byStatus: new Map(),
        byLatency: Array(latencyBucketsSeconds.length + 1).fill(0),
        seconds: 0,
      };
      this.#traffic.set(name, traffic);
    }
    const { byStatus, byLatency } = traffic;
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    // How long a stream lasted says nothing about how fast it was answered.
    if (durationMs === undefined || (operation?.success.kind === 'stream' && status === 200)) return;
    const seconds = durationMs / 1000;
    traffic.seconds += seconds;
    let bucket = 0;
    while (seconds > (latencyBucketsSeconds[bucket] as number)) bucket++;
    (byLatency[bucket] as number)++;
  }

  /** Counts a limit decision on a key of some plan, or on an address. */
  countDecision(account: Account, { outcome, isNewBan }: Decision): void {
    this.#decisions[account][outcome]++;
    if (isNewBan) this.#bans[account]++;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in the text format of Prometheus. Creates the text each time, which takes a millisecond or more. */
  async text(): Promise<Buffer> {
    return Buffer.from(await this.#registry.metrics());
  }

  /** A histogram as prom-client publishes it: each bucket includes the smaller ones. */
  #publishLatency(): void {
    const name = 'petstore_request_duration_seconds';
    const help = 'Time from when a request is handled to the end of its answer, by operation.';
    const get = async () => ({
      name,
      help,
      type: 'histogram',
      values: [...this.#traffic].flatMap(([operation, { byLatency, seconds }]) => {
        let count = 0;
        const buckets = [...latencyBucketsSeconds, '+Inf'].map((le, i) => {
          count += byLatency[i] as number;
          return { metricName: `${name}_bucket`, labels: { le, operation }, value: count };
        });
        const sum = { metricName: `${name}_sum`, labels: { operation }, value: seconds };
        return [...buckets, sum, { metricName: `${name}_count`, labels: { operation }, value: count }];
      }),
    });
    this.#registry.registerMetric({ name, help, get } as unknown as Histogram);
  }

  #publish(
    name: string,
    help: string,
    labelNames: string[],
    report: (count: (labels: Labels, n: number) => void) => void,
    Kind: typeof Counter | typeof Gauge = Counter,
  ) {
    new Kind({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        report((labels, n) => this.inc(labels, n));
      },
    });
  }
}

const forEachAccount = <Counts>(zero: () => Counts) =>
  Object.fromEntries([...planNames, 'none'].map((account) => [account, zero()])) as Record<Account, Counts>;
