import type { FastifyRequest } from 'fastify';
import { traceIdOf } from '../../http/trace.ts';
import { type RequestOutcome, traceIdOfOutcome } from '../request-outcome.ts';
import type { Log } from './logger.ts';

/** Lines per second about requests without an admitted key: from one address, and from all addresses. */
const perAddress = 10;
const fromAll = 100;
const intervalMs = 1_000;

/**
 * Writes one line for each request that got a response. Requests of callers with a key are bounded by
 * their limits and are all logged. Others are not bounded, so only a sample of them is logged.
 */
export class RequestLog {
  readonly #log: Log;
  readonly #answers: RateSample;
  readonly #failures: RateSample;

  constructor(log: Log) {
    this.#log = log;
    this.#answers = new RateSample((leftOut) =>
      log.info({ leftOut }, 'further requests were not logged one by one'),
    );
    this.#failures = new RateSample((leftOut) =>
      log.error({ leftOut }, 'further failures were not logged one by one'),
    );
  }

  /** Lines that were left out until now, because there were too many of their kind. */
  get dropped(): number {
    return this.#answers.dropped + this.#failures.dropped;
  }

  /** The line for a response, or none. */
  answered(outcome: RequestOutcome) {
    const { requestId, method, url, operation, caller, address, status, durationMs, reason, faults, error } =
      outcome;
    if (!caller && !this.#answers.takes(address)) return;
    const fields = {
      reqId: requestId,
      method,
      url,
      operation: operation?.id,
      status,
      durationMs: durationMs && Math.round(durationMs * 1000) / 1000,
      keyId: caller?.keyId,
      address,
      reason,
      faults: faults?.length ? faults.join(' ') : undefined,
    };
    const traceId = traceIdOfOutcome(outcome);
    if (error) this.#log.info({ ...fields, trace_id: traceId, err: error }, 'answered');
    else this.#log.infoFast(fields, 'answered', traceId);
  }

  /** A failure of the service, beside the line for its response. */
  failed(request: FastifyRequest, err: unknown): void {
    if (request.caller || this.#failures.takes(request.ip))
      this.#log.error({ reqId: request.id, trace_id: traceIdOf(request), err }, 'failed');
  }

  /** Logs how much was left out since the last report. */
  close(): void {
    this.#answers.endInterval();
    this.#failures.endInterval();
  }
}

/** Lets a fixed number of lines through in each interval, and reports at its end how many were left out. */
class RateSample {
  dropped = 0;
  readonly #reportDropped: (dropped: number) => void;
  /** Holds at most as many addresses as lines. */
  readonly #taken = new Map<string | undefined, number>();
  #left = fromAll;
  #reported = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(reportDropped: (dropped: number) => void) {
    this.#reportDropped = reportDropped;
  }

  /** Whether a line about this address is to be written. */
  takes(address: string | undefined): boolean {
    this.#timer ??= setTimeout(() => this.endInterval(), intervalMs).unref();
    const taken = this.#taken.get(address) ?? 0;
    if (taken === perAddress || this.#left === 0) {
      this.dropped++;
      return false;
    }
    this.#taken.set(address, taken + 1);
    this.#left--;
    return true;
  }

  endInterval(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#taken.clear();
    this.#left = fromAll;
    const dropped = this.dropped - this.#reported;
    this.#reported = this.dropped;
    if (dropped > 0) this.#reportDropped(dropped);
  }
}
