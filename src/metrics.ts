import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Decision } from './access/limits.ts';
import type { Plan } from './access/plans.ts';
import type { StorageCounts } from './db/database.ts';

const latencyBucketsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** What the service counts, for Prometheus. No label tells a key, an id or an address. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: 'petstore_requests_total',
    help: 'Answered requests, by operation (none where there is none) and status.',
    labelNames: ['operation', 'status'],
    registers: [this.#registry],
  });
  readonly #latency = new Histogram({
    name: 'petstore_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer, by operation.',
    labelNames: ['operation'],
    buckets: latencyBucketsSeconds,
    registers: [this.#registry],
  });
  readonly #decisions = new Counter({
    name: 'petstore_limit_decisions_total',
    help: 'Limit decisions, by plan (none without a valid key) and outcome.',
    labelNames: ['plan', 'outcome'],
    registers: [this.#registry],
  });
  readonly #bans = new Counter({
    name: 'petstore_bans_total',
    help: 'Bans that began, by plan.',
    labelNames: ['plan'],
    registers: [this.#registry],
  });

  /** `storage` is asked for its counts when the metrics are read. */
  constructor(storage: StorageCounts) {
    const registers = [this.#registry];
    const kinds = ['reads', 'writes', 'commits', 'failures'] as const;
    new Gauge({
      name: 'petstore_storage_operations_total',
      help: 'Statements read, writes asked for, transactions committed and failures of the storage.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const kind of kinds) this.set({ kind }, storage[kind]);
      },
    });
    collectDefaultMetrics({ register: this.#registry });
  }

  countRequest(operation: string, status: number, durationMs: number): void {
    this.#requests.inc({ operation, status });
    this.#latency.observe({ operation }, durationMs / 1000);
  }

  /** Counts a decision and answers it. */
  countDecision(plan: Plan | 'none', decision: Decision): Decision {
    this.#decisions.inc({ plan, outcome: decision.outcome });
    if (decision.isNewBan) this.#bans.inc({ plan });
    return decision;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
