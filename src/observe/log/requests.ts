import type { FastifyRequest } from 'fastify';
import { addressGroup } from '../../http/address.ts';
import { isForPlan } from '../../http/target.ts';
import { traceIdOf } from '../../http/trace-context.ts';
import { type RequestOutcome, traceIdOfOutcome } from '../request-outcome.ts';
import type { Log } from './logger.ts';

/** Lines a minute that no plan bounds: of one key or address, and of all keys or all addresses together. */
const sampled = { perSender: 20, ofAll: 200 };
const failures = { perSender: 5, ofAll: 50 };
const intervalMs = 60_000;

/**
 * Writes one line for each request that got a response. Plans bound the requests of keys to the API, so all of them are logged. Nothing
 * bounds the others enough, so only a sample of them is logged. Keys, addresses and failures have shares of their own.
 */
export class RequestLog {
  readonly #log: Log;
  readonly #samples;

  constructor(log: Log) {
    this.#log = log;
    const left = (leftOut: number) => log.info({ leftOut }, 'further requests were not logged one by one');
    this.#samples = {
      keys: new RateSample(sampled, left),
      addresses: new RateSample(sampled, left),
      refusals: new RateSample(sampled, (leftOut) =>
        log.debug({ leftOut }, 'further reasons of refusals were not logged one by one'),
      ),
      failures: new RateSample(failures, (leftOut) =>
        log.error({ leftOut }, 'further failures were not logged one by one'),
      ),
    };
  }

  /** Lines that were left out until now, because there were too many of their kind. */
  get dropped(): number {
    return Object.values(this.#samples).reduce((sum, { dropped }) => sum + dropped, 0);
  }

  answered(outcome: RequestOutcome) {
    const { requestId, method, url, operation, caller, sender, address, status, durationMs, faults, error } =
      outcome;
    const sample = sender ? this.#samples.keys : this.#samples.addresses;
    if (!(caller && isForPlan(outcome)) && !sample.takes(sender?.keyId ?? addressGroup(address))) return;
    const fields = {
      reqId: requestId,
      method,
      url,
      operation: operation?.id,
      status,
      durationMs: durationMs && Math.round(durationMs * 1000) / 1000,
      keyId: caller?.keyId,
      address,
      reason: outcome.reason ?? error?.message,
      faults: faults?.length ? faults.join(' ') : undefined,
    };
    this.#log.infoFast(fields, 'answered', traceIdOfOutcome(outcome));
  }

  /** A failure of the service, beside the line for its response. */
  failed(request: FastifyRequest, err: unknown): void {
    if (this.#samples.failures.takes(senderOf(request)))
      this.#log.error({ reqId: request.id, trace_id: traceIdOf(request), err }, 'failed');
  }

  /** Why a request was refused, beside the line for its response. */
  refused(request: FastifyRequest, err: Error): void {
    if (this.#log.isLevelEnabled('debug') && this.#samples.refusals.takes(senderOf(request)))
      this.#log.debug({ reqId: request.id, err }, 'refused');
  }

  close(): void {
    for (const sample of Object.values(this.#samples)) sample.endInterval();
  }
}

const senderOf = ({ sender, ip }: FastifyRequest) => sender?.keyId ?? addressGroup(ip);

/** Lets a fixed number of lines through in each interval, and reports at its end how many were left out. */
class RateSample {
  dropped = 0;
  readonly #bounds: typeof sampled;
  readonly #reportDropped: (dropped: number) => void;
  /** Holds at most as many senders as lines. */
  readonly #taken = new Map<string | undefined, number>();
  #left: number;
  #reported = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(bounds: typeof sampled, reportDropped: (dropped: number) => void) {
    this.#bounds = bounds;
    this.#left = bounds.ofAll;
    this.#reportDropped = reportDropped;
  }

  /** Whether a line about this sender is to be written. */
  takes(sender: string | undefined): boolean {
    this.#timer ??= setTimeout(() => this.endInterval(), intervalMs).unref();
    const taken = this.#taken.get(sender) ?? 0;
    if (taken === this.#bounds.perSender || this.#left === 0) {
      this.dropped++;
      return false;
    }
    this.#taken.set(sender, taken + 1);
    this.#left--;
    return true;
  }

  endInterval(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#taken.clear();
    this.#left = this.#bounds.ofAll;
    const dropped = this.dropped - this.#reported;
    this.#reported = this.dropped;
    if (dropped > 0) this.#reportDropped(dropped);
  }
}
