import type { Event } from '../../client/index.ts';
import type { CheckResult } from '../../lab/checks/report-schema.ts';
import { post, silence, type TrialDelivery } from './deliver.ts';
import { trialMessages } from './messages.ts';
import { receiverChecks, type Trial } from './receiver-checks.ts';
import { ReceiverState, type WatchTimes } from './state.ts';

interface Options {
  /** Where the receiver listens. */
  url: URL;
  /** The secret of the webhook: `whsec_…`. */
  secret: string;
  /** Reads the state of the receiver. */
  readState: () => Promise<string>;
  /** Empties the receiver. */
  reset?: (() => Promise<unknown>) | undefined;
  /** The events of the messages, from `trialEvents`. */
  events: readonly Event[];
  signal: AbortSignal;
  /** The types of events that the receiver handles. Default: all. */
  types?: readonly string[] | undefined;
  times?: WatchTimes;
  onDelivery?: (delivery: TrialDelivery) => void;
}

/** After this many messages in a row without a response the grading ends: each costs its time limit. */
const maxSilent = 3;
const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** The result of grading a receiver. */
export interface ReceiverGrade {
  receiver: string;
  verdict: 'passed' | 'failed';
  /** The evidence of a check: the numbers of its deliveries. */
  checks: CheckResult[];
  deliveries: TrialDelivery[];
}

/**
 * Sends signed events to a receiver of webhooks: once, twice, out of order, forged, old, in pieces. Judges its responses and its state.
 * Throws if the receiver does not listen, if a function of the caller fails, if the state changes by itself, or when the signal is aborted.
 */
export async function gradeReceiver(options: Options): Promise<ReceiverGrade> {
  const { url, secret, types, signal, onDelivery = () => {} } = options;
  const deliveries: TrialDelivery[] = [];
  let silent = 0;
  const messages = trialMessages(options.events, (type) => types?.includes(type) ?? type !== '');
  const trial: Trial = {
    ...{ secret, messages, reset: options.reset },
    state: new ReceiverState(options.readState, signal, options.times),
    async send(what, message, manner = {}) {
      trial.state.last = undefined;
      const outcome = await post(url, message, { secrets: [secret], ...manner }, signal);
      const delivery = { number: deliveries.length + 1, what, type: message.type, ...outcome };
      deliveries.push(delivery);
      onDelivery(delivery);
      // The check of simultaneous copies judges these.
      if (!manner.meet) silent = delivery.error === silence ? silent + 1 : 0;
      if (silent >= maxSilent)
        throw new Error(`${url.href} gave ${silence} to ${maxSilent} messages in a row. Does it still run?`);
      return delivery;
    },
  };
  // Long enough to see a clock of seconds.
  const clockMs = 3 * trial.state.times.quietMs;
  await trial.reset?.();
  await trial.state.steady(clockMs, 0);
  const checks: CheckResult[] = [];
  for (const { judge, needs, right, name, level, advice } of receiverChecks) {
    const first = deliveries.length;
    const missing = needs?.find((role) => !messages.has(role));
    let unseen = missing && `Nothing shows this: the receiver handles no ${missing} ${messages.noun}.`;
    if (checks[0]?.result === 'failed') unseen = 'The receiver applied no event, so this was not tested.';
    const finding = unseen === undefined ? await judge(trial) : { unseen };
    if (checks.length === 0) await trial.state.steady(clockMs);
    const evidence = deliveries.slice(first).map(({ number }) => String(number));
    const [{ error, status } = {}] = deliveries;
    if (unreachable.some((code) => code === error && status === undefined))
      throw new Error(`${url.href} cannot be reached (${error}). Is the receiver running?`);
    const result = finding.failed ? 'failed' : finding.unseen ? 'not_observed' : 'passed';
    const because = finding.failed ?? finding.unseen ?? right;
    checks.push({ name, level, result, evidence, because, advice, guide: 'Events' });
  }
  const isFailed = checks.some(({ level, result }) => level === 'required' && result === 'failed');
  return { receiver: url.href, verdict: isFailed ? 'failed' : 'passed', checks, deliveries };
}
