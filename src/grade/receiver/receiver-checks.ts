import { randomBytes } from 'node:crypto';
import { secretPrefix } from '../../foundation/settings/secret-key.ts';
import type { Level } from '../../lab/faults/shared/fault.ts';
import type { Delivery, Manner } from './deliver.ts';
import type { Message, Messages } from './messages.ts';
import type { ReceiverState } from './state.ts';

/** The receiver, and what the checks need to test it. */
export interface Trial {
  messages: Messages;
  secret: string;
  state: ReceiverState;
  /** Empties the receiver. Undefined without `--reset`. */
  reset: (() => Promise<unknown>) | undefined;
  /** Sends a message. `what` describes it for people. */
  send(what: string, message: Message, manner?: Manner): Promise<Delivery>;
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
  asks: string;
  advice: string;
  /** The sentence for a check that passed. */
  right: string;
  /** Checks run one after another. Each starts with the state after the previous one. */
  judge(trial: Trial): Promise<ReceiverFinding>;
}

const tenMinutesMs = 600_000;
const [pieceCount, rightly] = [9, {}];

const isAccepted = ({ status = 0 }: Delivery) => status >= 200 && status < 300;
const isRefused = ({ status = 0 }: Delivery) => status >= 400 && status < 500;

/** `It returned 500 to a repeated message.` */
const answered = ({ what, status, error }: Delivery) =>
  status === undefined ? `There was no response to ${what}: ${error}.` : `It returned ${status} to ${what}.`;

const makeSecret = () => secretPrefix + randomBytes(32).toString('base64');

/** Sends a message that must be applied. */
async function mustApply(
  { send, state }: Trial,
  ...sent: Parameters<Trial['send']>
): Promise<ReceiverFinding> {
  const before = await state.read();
  const delivery = await send(...sent);
  if (!isAccepted(delivery)) return { failed: answered(delivery) };
  return (await state.whenChanged(before)) === before
    ? { failed: `It returned ${delivery.status} to ${delivery.what}, but its state did not change.` }
    : rightly;
}

/** Sends a message that must be accepted, but must change nothing. */
async function mustIgnore(
  { send, state }: Trial,
  ...sent: Parameters<Trial['send']>
): Promise<ReceiverFinding> {
  const before = await state.afterPause();
  const delivery = await send(...sent);
  if (!isAccepted(delivery)) return { failed: answered(delivery) };
  return (await state.afterPause()) === before
    ? rightly
    : { failed: `Its state changed after ${delivery.what}.` };
}

/** Sends a message that must be refused with 4xx, and must change nothing. */
async function mustRefuse(
  { send, state }: Trial,
  ...sent: Parameters<Trial['send']>
): Promise<ReceiverFinding> {
  const before = await state.afterPause();
  const delivery = await send(...sent);
  const isChanged = (await state.afterPause()) !== before;
  if (isChanged) return { failed: `It applied ${delivery.what}.` };
  return isRefused(delivery) ? rightly : { failed: `${answered(delivery)} It should return 400.` };
}

/** Runs steps in order until one fails. Returns its finding. */
async function inTurn(...steps: (() => Promise<ReceiverFinding>)[]): Promise<ReceiverFinding> {
  for (const step of steps) {
    const finding = await step();
    if (finding !== rightly) return finding;
  }
  return rightly;
}

/** All checks of receivers, in the order in which they run. */
export const receiverChecks: readonly ReceiverCheck[] = [
  {
    name: 'event.applied',
    level: 'required',
    asks: 'A new event gets 2xx, and the state of the receiver shows it.',
    advice:
      'Verify the signature over the raw body, before you parse it. Return 2xx. Let the command of --state print what the receiver knows.',
    right: 'A new event was accepted, and the state showed it.',
    judge: (trial) => mustApply(trial, 'a new event', trial.messages.created),
  },
  {
    name: 'event.once',
    level: 'required',
    asks: 'A repeated message gets 2xx, and is not applied again.',
    advice: 'Store each `webhook-id` in the same transaction as its effect. Return 2xx for a known one.',
    right: 'A repeated message changed nothing.',
    judge: (trial) => mustIgnore(trial, 'a repeated message', trial.messages.created),
  },
  {
    name: 'event.order',
    level: 'required',
    asks: 'A late event does not overwrite a newer state of the same resource.',
    advice:
      'Store the `id` of the last event with each resource, even after its deletion, and ignore events with a smaller id.',
    right: 'Late events changed nothing.',
    judge: (trial) => {
      const { secondChange, firstChange, otherCreated, otherDeleted, otherChange } = trial.messages;
      return inTurn(
        () => mustApply(trial, 'the second change of a pet', secondChange),
        () => mustIgnore(trial, 'the first change of this pet, which came late', firstChange),
        () => mustApply(trial, 'another new pet', otherCreated),
        () => mustApply(trial, 'the removal of this pet', otherDeleted),
        () => mustIgnore(trial, 'a change of this pet from before its removal', otherChange),
      );
    },
  },
  {
    name: 'signature.checked',
    level: 'required',
    asks: 'A message without a valid signature is refused with 4xx and not applied.',
    advice:
      'Compute the signature over `webhook-id`, `webhook-timestamp` and the body, compare it in constant time, and return 400 if it differs. The libraries of Standard Webhooks do all of this.',
    right: 'Each forged message was refused.',
    judge: (trial) => {
      const { forged } = trial.messages;
      const body = forged.body.replace('Forged', 'Forger');
      return inTurn(
        () => mustRefuse(trial, 'an event that another secret signed', forged, { secrets: [makeSecret()] }),
        () => mustRefuse(trial, 'an event that was changed after it was signed', forged, { body }),
        () => mustRefuse(trial, 'an event without a signature', forged, { secrets: [] }),
      );
    },
  },
  {
    name: 'timestamp.checked',
    level: 'required',
    asks: 'A message with a timestamp ten minutes in the past or future is refused with 4xx and not applied.',
    advice: 'Refuse timestamps more than five minutes from now: an attacker may replay a message.',
    right: 'Messages with old and future timestamps were refused.',
    judge: (trial) =>
      inTurn(
        () =>
          mustRefuse(trial, 'an event with a timestamp ten minutes in the past', trial.messages.old, {
            ageMs: tenMinutesMs,
          }),
        () =>
          mustRefuse(trial, 'an event with a timestamp ten minutes in the future', trial.messages.old, {
            ageMs: -tenMinutesMs,
          }),
      ),
  },
  {
    name: 'body.in-pieces',
    level: 'required',
    asks: 'A body that arrives slowly, in pieces that split characters, is read completely.',
    advice: 'Collect the bytes of the whole body, and decode them once, at the end.',
    right: 'An event that came in pieces was applied.',
    judge: (trial) =>
      mustApply(trial, 'an event that came in pieces', trial.messages.inPieces, { pieces: pieceCount }),
  },
  {
    name: 'secret.rotated',
    level: 'recommended',
    asks: 'While two secrets sign, a message is accepted if one of the signatures is valid.',
    advice: 'Try each signature of `webhook-signature`; they are separated by spaces.',
    right: 'A message with two signatures was accepted.',
    judge: (trial) =>
      mustApply(trial, 'an event signed with a new and the old secret', trial.messages.rotated, {
        secrets: [makeSecret(), trial.secret],
      }),
  },
  {
    name: 'message.unknown',
    level: 'recommended',
    asks: 'A `ping`, unknown types and unknown properties get 2xx.',
    advice: 'Return 2xx for types that you do not handle, and ignore unknown properties.',
    right: 'Unknown types and properties were accepted.',
    judge: async ({ send, messages }) => {
      for (const [what, message] of [
        ['a ping', messages.ping],
        ['an event of an unknown type', messages.unknownType],
        ['an event with unknown properties', messages.unknownFields],
      ] as const) {
        const delivery = await send(what, message);
        if (!isAccepted(delivery)) return { failed: answered(delivery) };
      }
      return rightly;
    },
  },
  {
    name: 'event.once-at-once',
    level: 'required',
    asks: 'A message that comes twice at the same time is applied once.',
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
