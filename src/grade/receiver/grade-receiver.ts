import type { CheckResult } from '../../lab/checks/report-schema.ts';
import type { GradingService } from '../grading-service.ts';
import { outputOf } from '../run/command.ts';
import { post, type TrialDelivery } from './deliver.ts';
import { makeMessages, subjectFor } from './messages.ts';
import { type ReceiverCheck, receiverChecks, type Trial } from './receiver-checks.ts';
import { ReceiverState, type WatchTimes } from './state.ts';

interface Options {
  /** Where the receiver listens. */
  url: URL;
  /** The secret of the webhook: `whsec_…`. */
  secret: string;
  /** A shell command that prints the state of the receiver. */
  stateCommand: string;
  /** A shell command that empties the receiver. */
  resetCommand?: string | undefined;
  /** Its history provides the events. */
  store: GradingService;
  signal: AbortSignal;
  /** The types of events that the receiver handles. Default: all. */
  types?: readonly string[] | undefined;
  /** The time limit of both commands in milliseconds. */
  commandMs?: number | undefined;
  times?: WatchTimes;
  onDelivery?: (delivery: TrialDelivery) => void;
}

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
 * Throws if the receiver does not listen, if a command of the user fails, if the state changes by itself, or when the signal is aborted.
 */
export async function gradeReceiver(options: Options): Promise<ReceiverGrade> {
  const { url, secret, stateCommand, resetCommand, types, store, signal } = options;
  const { onDelivery = () => {} } = options;
  const handles = (type: string) => types?.includes(type) ?? true;
  const graded = subjectFor(handles);
  if (!graded) throw new Error('The receiver handles no type of event that can grade it.');
  const { subject, main } = graded;
  const run = (command: string) => outputOf(command, { signal, limitMs: options.commandMs });
  const deliveries: TrialDelivery[] = [];
  const trial: Trial = {
    ...{ handles, secret },
    has: (role) => subject.types[role] !== undefined && handles(subject.types[role]),
    messages: await makeMessages(store, subject, main, signal),
    state: new ReceiverState(() => run(stateCommand), signal, options.times),
    reset: resetCommand === undefined ? undefined : () => run(resetCommand),
    async send(what, message, manner = {}) {
      const outcome = await post(url, message, { secrets: [secret], ...manner }, signal);
      const delivery = { number: deliveries.length + 1, what, type: message.type, ...outcome };
      deliveries.push(delivery);
      onDelivery(delivery);
      return delivery;
    },
  };
  // Long enough to see a clock of seconds.
  const clockMs = 3 * trial.state.times.quietMs;
  await trial.reset?.();
  await trial.state.steady(clockMs, 0);
  const checks: CheckResult[] = [];
  for (const check of receiverChecks) {
    const first = deliveries.length;
    const missing = check.needs?.find((need) => (need === 'name' ? !subject.hasNames : !trial.has(need)));
    let unseen = missing && `Nothing shows this: the receiver handles no ${missing} ${subject.noun}.`;
    if (checks[0]?.result === 'failed') unseen = 'The receiver applied no event, so this was not tested.';
    const finding = unseen === undefined ? await check.judge(trial) : { unseen };
    if (checks.length === 0) await trial.state.steady(clockMs);
    const evidence = deliveries.slice(first).map(({ number }) => String(number));
    const [{ error, status } = {}] = deliveries;
    if (unreachable.some((code) => code === error && status === undefined))
      throw new Error(`${url.href} cannot be reached (${error}). Is the receiver running?`);
    checks.push(resultOf(check, finding, evidence));
  }
  const isFailed = checks.some(({ level, result }) => level === 'required' && result === 'failed');
  return { receiver: url.href, verdict: isFailed ? 'failed' : 'passed', checks, deliveries };
}

function resultOf(
  { name, level, advice, right }: ReceiverCheck,
  { failed, unseen }: Awaited<ReturnType<ReceiverCheck['judge']>>,
  evidence: string[],
): CheckResult {
  const result = failed ? 'failed' : unseen ? 'not_observed' : 'passed';
  return { name, level, result, evidence, because: failed ?? unseen ?? right, advice, guide: 'Events' };
}
