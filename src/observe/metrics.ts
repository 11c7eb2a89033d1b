import type { Registry } from 'prom-client';
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
import type { MetricFamily } from './exposition.ts';
import type { RequestOutcome } from './request-outcome.ts';

type Account = Plan | 'none';

interface Traffic {
  byStatus: Map<number, number>;
  seconds: Histogram;
}

/** What the metrics read when they are requested. */
interface MetricSources {
  operations: readonly Pick<Operation, 'id' | 'success' | 'deprecated'>[];
  /** The faults that keys may rehearse. */
  faults: readonly string[];
  db: Pick<Database, 'counts' | 'measured'>;
  /** Whether `/readyz` would return 200 now. */
  isReady: () => Promise<boolean>;
  deprecated: Pick<DeprecatedCalls, 'uses'>;
  /** Log lines that were not written, by reason. */
  missingLines: () => { repeated: number; unread: number };
  openStreams: () => number;
  accounts: Readonly<{ created: object; refused: object; expired: number }>;
  sharing?: Readonly<Sharing> | undefined;
  deliveries?: Readonly<Pick<Dispatcher, 'counts' | 'lag'>> | undefined;
}

/** Alerts look for the first response with such a status, so its series is there before. */
const failures = [500, 503];

/** The metrics of the service, for Prometheus. No label contains a key, an id or an address. */
export class Metrics {
  // Plain numbers, published on request: a counter with labels would cost each request more than its limit decision.
  readonly #traffic = new Map<string, Traffic>();
  readonly #decisions = forEachAccount(() => ({ admitted: 0, limited: 0, banned: 0 }));
  readonly #bans = forEachAccount(() => 0);
  /** Responses that faults of rehearsals changed, by fault. */
  readonly #rehearsed: Map<string, number>;
  readonly #isReady: MetricSources['isReady'];
  #ready = false;
  readonly #registry: () => Promise<Registry>;

  constructor(sources: MetricSources) {
    for (const { id, success } of sources.operations) this.#expect(id, [success.status, ...failures]);
    this.#expect('none', failures);
    this.#rehearsed = new Map(sources.faults.map((fault) => [fault, 0]));
    this.#isReady = sources.isReady;
    // Loads prom-client late, because only the metrics need it. Its own metrics count from then on.
    this.#registry = memoize(async () =>
      (await import('./exposition.ts')).openRegistry(this.#families(sources)),
    );
  }

  #families({ db: { counts, measured }, deprecated, ...sources }: MetricSources): MetricFamily[] {
    const deprecatedUses = () =>
      sources.operations
        .filter((operation) => operation.deprecated)
        .map(({ id }) => [{ operation: id }, deprecated.uses.get(id)] as const);
    const families = [
      gauge('petstore_build_info', 'Always 1. The label has the version of Petstore.', () => [
        [{ version }, 1],
      ]),
      gauge('petstore_ready', 'Whether /readyz would return 200 now (1) or not (0).', () =>
        Number(this.#ready),
      ),
      gauge('petstore_open_streams', 'Event streams that are open now.', sources.openStreams),
      counter(
        'petstore_log_lines_dropped_total',
        'Log lines that were not written, because they repeat others or because nobody read the log in time.',
        () => by('reason', sources.missingLines()),
      ),
      counter(
        'petstore_requests_total',
        'Requests with a response. /healthz, /readyz and /metrics are not counted.',
        () =>
          [...this.#traffic].flatMap(([operation, { byStatus }]) =>
            [...byStatus].map(([status, n]) => [{ operation, status: String(status) }, n] as const),
          ),
      ),
      histogram(
        'petstore_request_duration_seconds',
        'Time from when a request is handled to the end of its response, by operation. Streams are not measured.',
        () => [...this.#traffic].map(([operation, { seconds }]) => [{ operation }, seconds]),
      ),
      counter(
        'petstore_limit_decisions_total',
        'Decisions of the rate limits, by plan; the plan none is for requests without a valid key.',
        () =>
          Object.entries(this.#decisions).flatMap(([plan, outcomes]) =>
            Object.entries(outcomes).map(([outcome, n]) => [{ plan, outcome }, n] as const),
          ),
      ),
      counter('petstore_bans_total', 'Bans that began, by plan.', () => by('plan', this.#bans)),
      counter(
        'petstore_accounts_created_total',
        'Workspaces that people created themselves, by how: invite or signup.',
        () => by('origin', sources.accounts.created),
      ),
      counter('petstore_accounts_refused_total', 'Refused sign-ups, by error code.', () =>
        by('code', sources.accounts.refused),
      ),
      counter(
        'petstore_accounts_expired_total',
        'Workspaces of open sign-up that expired.',
        () => sources.accounts.expired,
      ),
      counter(
        'petstore_rehearsed_answers_total',
        'Responses that a rehearsed fault changed. No other metric counts them.',
        () => by('fault', Object.fromEntries(this.#rehearsed)),
      ),
      counter('petstore_deprecated_requests_total', 'Admitted requests to deprecated operations.', () =>
        deprecatedUses().map(([labels, use]) => [labels, use?.calls ?? 0]),
      ),
      gauge(
        'petstore_deprecated_callers',
        'Keys that called a deprecated operation today (UTC). The log names them.',
        () => deprecatedUses().map(([labels, use]) => [labels, use?.callers.size ?? 0]),
      ),
      counter('petstore_storage_operations_total', 'Storage operations, by kind.', () => by('kind', counts)),
      counter('petstore_events_total', 'Events written.', () => counts.records),
      gauge('petstore_writes_waiting', 'Writes that wait in the queue now.', measured.writesWaiting),
      histogram('petstore_commit_writes', 'Number of writes in each transaction.', () => measured.groupSizes),
      histogram(
        'petstore_commit_duration_seconds',
        'Time from when a group of writes starts, after its wait in the queue, to the end of its transaction. Includes the wait for a connection, and repeated runs.',
        () => measured.groupSeconds,
      ),
    ];
    if (measured.postgres) families.push(...postgresFamilies(measured.postgres));
    if (sources.sharing) families.push(...sharingFamilies(sources.sharing));
    if (sources.deliveries) families.push(...deliveryFamilies(sources.deliveries));
    return families;
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
    const registry = await this.#registry();
    // It writes, so it comes before the other metrics, which would show it.
    this.#ready = await this.#isReady();
    return { contentType: registry.contentType, text: Buffer.from(await registry.metrics()) };
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

const family =
  (type: MetricFamily['type']) =>
  (name: string, help: string, read: MetricFamily['read']): MetricFamily => ({ type, name, help, read });
const [counter, gauge, histogram] = [family('counter'), family('gauge'), family('histogram')];

const by = (label: string, values: object): [Record<string, string>, number][] =>
  Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);

const postgresFamilies = ({ readSeconds, connections }: NonNullable<Database['measured']['postgres']>) => [
  histogram(
    'petstore_postgres_read_duration_seconds',
    'Time of a read. Includes the wait for a connection.',
    () => readSeconds,
  ),
  gauge(
    'petstore_postgres_connections',
    'Open connections to PostgreSQL, by pool (reads, writes) and state (in_use, idle).',
    () =>
      Object.entries(connections()).flatMap(([pool, { inUse, idle }]) => [
        [{ pool, state: 'in_use' }, inUse] as const,
        [{ pool, state: 'idle' }, idle] as const,
      ]),
  ),
  gauge(
    'petstore_postgres_waiting',
    'Groups of reads or of writes that wait for a connection to PostgreSQL now, by pool.',
    () => Object.entries(connections()).map(([pool, { waiting }]) => [{ pool }, waiting]),
  ),
];

const sharingFamilies = (sharing: Readonly<Sharing>) => [
  gauge(
    'petstore_limits_shared',
    'Whether limits are shared through Valkey now (1), or this instance applies them on its own (0).',
    () => Number(sharing.isShared),
  ),
  counter(
    'petstore_limits_fallbacks_total',
    'Limit decisions that this instance made alone, because Valkey was unreachable.',
    () => sharing.fallbacks,
  ),
  counter('petstore_valkey_round_trips_total', 'Round trips to Valkey.', () => sharing.roundTrips),
  histogram(
    'petstore_valkey_duration_seconds',
    'Duration of limit decisions in Valkey. Includes decisions that failed or timed out.',
    () => sharing.seconds,
  ),
];

const deliveryFamilies = (deliveries: NonNullable<MetricSources['deliveries']>) => [
  counter(
    'petstore_webhook_attempts_total',
    'Requests to webhooks, by outcome: delivered, failed (tried again later) or given_up.',
    () => {
      const { delivered, failed, givenUp } = deliveries.counts;
      return by('outcome', { delivered, failed, given_up: givenUp });
    },
  ),
  counter('petstore_webhooks_disabled_total', 'Webhooks that the service disabled.', () =>
    by('reason', deliveries.counts.disabled),
  ),
  counter(
    'petstore_webhook_missed_events_total',
    'Events that were removed before their webhook received them.',
    () => deliveries.counts.missed,
  ),
  gauge(
    'petstore_webhook_lag_events',
    'Number of events that were not sent yet to the slowest enabled webhook. Every instance reports the same webhook, no matter which instance sends to it.',
    () => deliveries.lag,
  ),
];
