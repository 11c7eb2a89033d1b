import { randomBytes } from 'node:crypto';
import { secretPrefix } from '../../foundation/settings/secret-key.ts';
import type { Level } from '../../lab/faults/shared/fault.ts';
import type { Manner, TrialDelivery } from './deliver.ts';
import type { Messages, Role, TrialMessage } from './messages.ts';
import type { ReceiverState } from './state.ts';

/** The receiver, and what the checks need to test it. */
export interface Trial {
  /** Whether the receiver handles events of this type. Others may have no effect. */
  handles(type: string): boolean;
  /** Whether there are such events, and the receiver handles them. */
  has(role: Role): boolean;
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
  /** The events that a receiver must handle for it. Default: only new resources. */
  needs?: readonly (Role | 'name')[];
  advice: string;
  /** The sentence for a check that passed. */
  right: string;
  /** Checks run one after another. Each starts with the state after the previous one. */
  judge(trial: Trial): Promise<ReceiverFinding>;
}

const tenMinutesMs = 600_000;
const [firstAgeMs, pieceCount, rightly] = [2_000, 9, {}];

const isAccepted = ({ status = 0 }: TrialDelivery) => status >= 200 && status < 300;
const isRefused = ({ status = 0 }: TrialDelivery) => status >= 400 && status < 500;

/** `It returned 500 to a repeated message.` */
const answered = ({ what, status, error }: TrialDelivery) =>
  status === undefined ? `There was no response to ${what}: ${error}.` : `It returned ${status} to ${what}.`;

const makeSecret = () => secretPrefix + randomBytes(32).toString('base64');

/** A message, and what the receiver must do: `replace` the old name, `ignore` or `accept` it with 2xx, `refuse` it with 4xx. */
type Step = [must: 'apply' | 'replace' | 'ignore' | 'refuse' | 'accept', ...Parameters<Trial['send']>];

/** Runs steps until one fails. Returns its finding. */
const inTurn =
  (stepsOf: (messages: Messages, trial: Trial) => Step[]) =>
  async (trial: Trial): Promise<ReceiverFinding> => {
    for (const step of stepsOf(trial.messages, trial)) {
      const failed = await mistakeIn(step, trial);
      if (failed !== undefined) return { failed };
    }
    return rightly;
  };

/** What the receiver does wrong, in a sentence. A refused message is not waited for: a later step applies it. */
async function mistakeIn(
  [must, ...sent]: Step,
  { send, state, handles }: Trial,
): Promise<string | undefined> {
  const before = await (must === 'ignore' ? state.settled() : state.read());
  const delivery = await send(...sent);
  const { what, status, type } = delivery;
  if (must === 'refuse') {
    if (isRefused(delivery)) return undefined;
    const isApplied = (await state.afterPause()) !== before;
    return isApplied ? `It applied ${what}.` : `${answered(delivery)} It should return 400.`;
  }
  if (!isAccepted(delivery)) return answered(delivery);
  if (must === 'ignore')
    return (await state.afterPause()) === before ? undefined : `Its state changed after ${what}.`;
  if (must === 'accept' || !handles(type)) return undefined;
  const after = await state.whenChanged(before);
  if (after === before)
    return `It returned ${status} to ${what}, but its state did not change within ${state.times.changeMs / 1_000} s.`;
  if (must === 'apply') return undefined;
  const oldName = JSON.parse(sent[1].body).previous.name;
  const isShown = before.includes(oldName) && after.includes(oldName);
  if (!isShown || !(await state.settled()).includes(oldName)) return undefined;
  return `Its state still shows the old name after ${what}.`;
}

/** All checks of receivers, in the order in which they run. The first ones show how long events take. */
export const receiverChecks: readonly ReceiverCheck[] = [
  {
    name: 'event.applied',
    level: 'required',
    advice:
      'Verify the signature over the raw body, before you parse it. Return 2xx. Let the command of --state print what the receiver knows. If it handles only some types, name them with --types.',
    right: 'New events were accepted, and the state showed them.',
    // The repetition of the first message has another timestamp.
    judge: inTurn(({ first, second }) => [
      ['apply', 'a new event', first, { ageMs: firstAgeMs }],
      ['apply', 'another new event', second],
    ]),
  },
  {
    name: 'body.in-pieces',
    level: 'required',
    advice: 'Collect the bytes of the whole body, and decode them once, at the end, as UTF-8.',
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
    judge: inTurn(({ rotated }, { secret }) => [
      [
        'apply',
        'an event signed with a new and the old secret',
        rotated,
        { secrets: [makeSecret(), secret] },
      ],
    ]),
  },
  {
    name: 'event.once',
    level: 'required',
    advice: 'Store each `webhook-id` in the same transaction as its effect. Return 2xx for a known one.',
    right: 'A repeated message changed nothing.',
    judge: inTurn(({ first }) => [['ignore', 'a repeated message', first]]),
  },
  {
    name: 'event.order',
    level: 'required',
    needs: ['changed'],
    advice:
      'Store the `id` of the last event with each resource, even after its deletion, and ignore events of this resource with a smaller id. A timestamp does not order events.',
    right: 'Late events changed nothing.',
    judge: inTurn(({ noun, ...messages }, { has }) => [
      ['apply', `a new ${noun}`, messages.created],
      ['apply', `the last change of this ${noun}`, messages.lastChange],
      ['ignore', `the first change of this ${noun}, which came late`, messages.firstChange],
      ['apply', `a late event about another ${noun}`, messages.older],
      ...((has('added') && has('removed')
        ? [
            ['apply', `another new ${noun}`, messages.otherCreated],
            ['apply', `the removal of this ${noun}`, messages.otherDeleted],
            ['ignore', `a change of this ${noun} from before its removal`, messages.otherChange],
          ]
        : []) satisfies Step[]),
    ]),
  },
  {
    name: 'event.early',
    level: 'required',
    needs: ['added', 'changed', 'name'],
    advice:
      'Add the resource if an update is about an unknown one, or refuse the update with 503 until the resource is known: it is sent again.',
    right: 'A change that came before its resource was not lost.',
    judge: async ({ send, state, messages: { noun, earlyChange, lateCreated } }) => {
      const before = await state.read();
      const change = await send(`a change that came before the new ${noun}`, earlyChange);
      const sent = [await send(`this new ${noun}`, lateCreated)];
      if (!isAccepted(change)) {
        await state.whenChanged(before);
        sent.push(await send(`${change.what}, sent again`, earlyChange));
      }
      const refused = sent.find((delivery) => !isAccepted(delivery));
      if (refused) return { failed: answered(refused) };
      const { data, previous } = JSON.parse(earlyChange.body);
      const isLost = (text: string) => text.includes(previous.name) && !text.includes(data.name);
      const shown = await state.afterPause();
      // The receiver may try again by itself.
      if (isLost(shown) && isLost(await state.whenChanged(shown)))
        return { failed: `Its state shows the old name after ${change.what}.` };
      if (shown !== before) return rightly;
      return { failed: `Neither ${change.what} nor this ${noun} changed its state.` };
    },
  },
  {
    name: 'event.replaces',
    level: 'recommended',
    needs: ['added', 'changed', 'name'],
    advice: 'Keep one row for each resource, with its `id` as the key, and replace it.',
    right: 'A changed name replaced the old one.',
    judge: inTurn(({ noun, named, renamed }) => [
      ['apply', `a new ${noun}, which gets another name later`, named],
      ['replace', `the new name of this ${noun}`, renamed],
    ]),
  },
  {
    name: 'signature.checked',
    level: 'required',
    advice:
      'Compute the signature over `webhook-id`, `webhook-timestamp` and the body, compare it in constant time, and return 400 if it differs. Store the `webhook-id` afterwards. The libraries of Standard Webhooks do all of this.',
    right: 'Each forged message was refused.',
    judge: inTurn(({ forged }) => [
      ['refuse', 'an event that another secret signed', forged, { secrets: [makeSecret()] }],
      [
        'refuse',
        'an event that was changed after it was signed',
        forged,
        { body: forged.body.replace('"timestamp":"2', '"timestamp":"3') },
      ],
      ['refuse', 'an event without a signature', forged, { secrets: [] }],
      ['apply', 'this event with the right signature', forged],
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
      ['apply', 'this event with the right timestamp', old],
    ]),
  },
  {
    name: 'message.unknown',
    level: 'recommended',
    advice: 'Return 2xx for types that you do not handle, and ignore unknown properties.',
    right: 'Unknown types and properties were accepted.',
    judge: inTurn(({ ping, unknownType, unknownFields }) => [
      ['apply', 'an event with unknown properties', unknownFields],
      ['accept', 'a ping', ping],
      ['accept', 'an event of an unknown type', unknownType],
    ]),
  },
  {
    name: 'body.exact',
    level: 'required',
    advice:
      'Verify the signature over the bytes that came. JSON that is parsed and written again may differ.',
    right: 'An event whose JSON no library writes the same was accepted.',
    judge: inTurn(({ notCanonical }) => [
      ['accept', 'an event with an id above 2^53, an escaped character and a final line end', notCanonical],
    ]),
  },
  {
    name: 'event.once-at-once',
    level: 'required',
    advice:
      'Let the database decide which is first: a unique key on `webhook-id`, in the transaction that applies the event.',
    right: 'Two copies at the same time left the same state as one.',
    judge: async ({ send, state, reset, messages: { first, following } }) => {
      if (!reset) return { unseen: 'This check needs --reset, to compare with the state after one copy.' };
      await state.afterPause();
      const afterReset = async (...whats: [string, ...string[]]) => {
        await reset();
        const before = await state.read();
        const copies = await Promise.all(whats.map((what) => send(what, first)));
        const applied = await state.whenChanged(before);
        // The slower copy may be refused: it is sent again.
        const sent = await Promise.all(
          copies.map((copy) => (isAccepted(copy) ? copy : send(`${copy.what}, again`, first))),
        );
        // When this event shows, those before it have taken effect.
        sent.push(await send('a new event after that', following));
        await state.whenChanged(applied);
        const refused = sent.find((delivery) => !isAccepted(delivery));
        return { refused, isApplied: applied !== before, state: await state.settled() };
      };
      const once = await afterReset('an event after a reset');
      if (!once.refused && !once.isApplied)
        return { unseen: 'After --reset a known event changed nothing. Let it forget the known ids, too.' };
      const again = await afterReset('an event after another reset');
      if (once.state !== again.state)
        return {
          unseen: 'After --reset the same event leaves another state each time, such as another id of a row.',
        };
      const twice = await afterReset('one of two equal messages', 'the other of two equal messages');
      const refused = once.refused ?? twice.refused;
      if (refused) return { failed: answered(refused) };
      if (once.state === twice.state) return rightly;
      return { failed: 'Two copies at the same time left a different state than one.' };
    },
  },
];
