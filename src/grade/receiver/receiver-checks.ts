import { randomBytes } from 'node:crypto';
import { secretPrefix } from '../../foundation/settings/secret-key.ts';
import type { Level } from '../../lab/faults/shared/fault.ts';
import type { Manner, TrialDelivery } from './deliver.ts';
import type { Messages, TrialMessage } from './messages.ts';
import type { ReceiverState } from './state.ts';

/** The receiver, and what the checks need to test it. */
export interface Trial {
  messages: Messages;
  secret: string;
  state: ReceiverState;
  /** Empties the receiver. Undefined without `--reset`. */
  reset: (() => Promise<unknown>) | undefined;
  /** Sends a message. `what` describes it for people. */
  send(what: string, message: TrialMessage, manner?: Manner): Promise<TrialDelivery>;
}

/** What a receiver did wrong, or why a check was not possible, in a sentence. Without either it passed. */
export interface ReceiverFinding {
  failed?: string;
  unseen?: string;
}

/** One rule for receivers of webhooks. */
export interface ReceiverCheck {
  name: string;
  level: Level;
  advice: string;
  /** The sentence for a check that passed. */
  right: string;
  /** Checks run one after another. Each starts with the state after the previous one. */
  judge(trial: Trial): Promise<ReceiverFinding>;
}

const tenMinutesMs = 600_000;
const [pieceCount, rightly] = [9, {}];

const isAccepted = ({ status = 0 }: TrialDelivery) => status >= 200 && status < 300;
const isRefused = ({ status = 0 }: TrialDelivery) => status >= 400 && status < 500;

/** `It returned 500 to a repeated message.` */
const answered = ({ what, status, error }: TrialDelivery) =>
  status === undefined ? `There was no response to ${what}: ${error}.` : `It returned ${status} to ${what}.`;

const makeSecret = () => secretPrefix + randomBytes(32).toString('base64');

/** A message, and what the receiver must do: apply it, `ignore` it with 2xx, `refuse` it with 4xx, or `accept` it with 2xx. */
type Step = [must: 'apply' | 'ignore' | 'refuse' | 'accept', ...Parameters<Trial['send']>];

/** Runs steps until one fails. Returns its finding. */
const inTurn =
  (stepsOf: (messages: Messages, secret: string) => Step[]) =>
  async (trial: Trial): Promise<ReceiverFinding> => {
    for (const step of stepsOf(trial.messages, trial.secret)) {
      const failed = await mistakeIn(step, trial);
      if (failed !== undefined) return { failed };
    }
    return rightly;
  };

/** What the receiver does wrong, in a sentence. */
async function mistakeIn([must, ...sent]: Step, { send, state }: Trial): Promise<string | undefined> {
  const before = await (must === 'ignore' || must === 'refuse' ? state.afterPause() : state.read());
  const delivery = await send(...sent);
  const { what, status } = delivery;
  if (must !== 'refuse' && !isAccepted(delivery)) return answered(delivery);
  if (must === 'accept') return undefined;
  if (must === 'apply')
    return (await state.whenChanged(before)) === before
      ? `It returned ${status} to ${what}, but its state did not change.`
      : undefined;
  const isChanged = (await state.afterPause()) !== before;
  if (isChanged) return must === 'refuse' ? `It applied ${what}.` : `Its state changed after ${what}.`;
  return must === 'ignore' || isRefused(delivery) ? undefined : `${answered(delivery)} It should return 400.`;
}

/** All checks of receivers, in the order in which they run. */
export const receiverChecks: readonly ReceiverCheck[] = [
  {
    name: 'event.applied',
    level: 'required',
    advice:
      'Verify the signature over the raw body, before you parse it. Return 2xx. Let the command of --state print what the receiver knows.',
    right: 'A new event was accepted, and the state showed it.',
    judge: inTurn(({ created }) => [['apply', 'a new event', created]]),
  },
  {
    name: 'event.once',
    level: 'required',
    advice: 'Store each `webhook-id` in the same transaction as its effect. Return 2xx for a known one.',
    right: 'A repeated message changed nothing.',
    judge: inTurn(({ created }) => [['ignore', 'a repeated message', created]]),
  },
  {
    name: 'event.order',
    level: 'required',
    advice:
      'Store the `id` of the last event with each resource, even after its deletion, and ignore events with a smaller id.',
    right: 'Late events changed nothing.',
    judge: inTurn(({ secondChange, firstChange, otherCreated, otherDeleted, otherChange }) => [
      ['apply', 'the second change of a pet', secondChange],
      ['ignore', 'the first change of this pet, which came late', firstChange],
      ['apply', 'another new pet', otherCreated],
      ['apply', 'the removal of this pet', otherDeleted],
      ['ignore', 'a change of this pet from before its removal', otherChange],
    ]),
  },
  {
    name: 'signature.checked',
    level: 'required',
    advice:
      'Compute the signature over `webhook-id`, `webhook-timestamp` and the body, compare it in constant time, and return 400 if it differs. The libraries of Standard Webhooks do all of this.',
    right: 'Each forged message was refused.',
    judge: inTurn(({ forged }) => [
      ['refuse', 'an event that another secret signed', forged, { secrets: [makeSecret()] }],
      [
        'refuse',
        'an event that was changed after it was signed',
        forged,
        { body: forged.body.replace('Forged', 'Forger') },
      ],
      ['refuse', 'an event without a signature', forged, { secrets: [] }],
    ]),
  },
  {
    name: 'timestamp.checked',
    level: 'required',
    advice: 'Refuse timestamps more than five minutes from now: an attacker may replay a message.',
    right: 'Messages with old and future timestamps were refused.',
    judge: inTurn(({ old }) => [
      ['refuse', 'an event with a timestamp ten minutes in the past', old, { ageMs: tenMinutesMs }],
      ['refuse', 'an event with a timestamp ten minutes in the future', old, { ageMs: -tenMinutesMs }],
    ]),
  },
  {
    name: 'body.in-pieces',
    level: 'required',
    advice: 'Collect the bytes of the whole body, and decode them once, at the end.',
    right: 'An event that came in pieces was applied.',
    judge: inTurn(({ inPieces }) => [
      ['apply', 'an event that came in pieces', inPieces, { pieces: pieceCount }],
    ]),
  },
  {
    name: 'secret.rotated',
    level: 'recommended',
    advice: 'Try each signature of `webhook-signature`; they are separated by spaces.',
    right: 'A message with two signatures was accepted.',
    judge: inTurn(({ rotated }, secret) => [
      [
        'apply',
        'an event signed with a new and the old secret',
        rotated,
        { secrets: [makeSecret(), secret] },
      ],
    ]),
  },
  {
    name: 'message.unknown',
    level: 'recommended',
    advice: 'Return 2xx for types that you do not handle, and ignore unknown properties.',
    right: 'Unknown types and properties were accepted.',
    judge: inTurn(({ ping, unknownType, unknownFields }) => [
      ['accept', 'a ping', ping],
      ['accept', 'an event of an unknown type', unknownType],
      ['accept', 'an event with unknown properties', unknownFields],
    ]),
  },
  {
    name: 'event.once-at-once',
    level: 'required',
    advice:
      'Let the database decide which is first: a unique key on `webhook-id`, in the transaction that applies the event.',
    right: 'Two copies at the same time left the same state as one.',
    judge: async ({ send, state, reset, messages: { created } }) => {
      if (!reset) return { unseen: 'This check needs --reset, to compare with the state after one copy.' };
      const afterReset = async (...whats: [string, ...string[]]) => {
        await reset();
        const before = await state.afterPause();
        const deliveries = await Promise.all(whats.map((what) => send(what, created)));
        await state.whenChanged(before);
        return { deliveries, state: await state.afterPause() };
      };
      const once = await afterReset('an event after a reset');
      const twice = await afterReset('one of two equal messages', 'the other of two equal messages');
      const refused = [...once.deliveries, ...twice.deliveries].find((delivery) => !isAccepted(delivery));
      if (refused) return { failed: answered(refused) };
      return once.state === twice.state
        ? rightly
        : { failed: 'Two copies at the same time left a different state than one.' };
    },
  },
];
