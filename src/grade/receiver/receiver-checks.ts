import { randomBytes } from 'node:crypto';
import { secretPrefix } from '../../foundation/settings/secret-key.ts';
import type { Level } from '../../lab/faults/shared/fault.ts';
import { type Manner, meeting, type TrialDelivery } from './deliver.ts';
import type { Role, TrialMessage, TrialMessages } from './messages.ts';
import type { ReceiverState } from './state.ts';

/** The receiver, and what the checks need to test it. */
export interface Trial {
  messages: TrialMessages;
  secret: string;
  state: ReceiverState;
  /** Empties the receiver. Undefined without `--reset`. */
  reset: (() => Promise<unknown>) | undefined;
  /** Sends a message. `what` describes it for people. */
  send(what: string, message: TrialMessage, manner?: Manner): Promise<TrialDelivery>;
}

/** What a receiver did wrong, or why a check was not possible, in a sentence. Without either it passed. */
export interface Finding {
  failed?: string;
  unseen?: string;
}

/** One rule for receivers of webhooks. */
export interface ReceiverCheck {
  name: string;
  level: Level;
  /** The events that a receiver must handle for it. Default: only new resources. */
  needs?: readonly Role[];
  advice: string;
  /** The sentence for a check that passed. */
  right: string;
  /** Checks run one after another. Each starts with the state after the previous one. */
  judge(trial: Trial): Promise<Finding>;
}

const tenMinutesMs = 600_000;
const [firstAgeMs, rightly] = [2_000, {}];

const isAccepted = ({ status = 0 }: TrialDelivery) => status >= 200 && status < 300;
const isRefused = ({ status = 0 }: TrialDelivery) => status >= 400 && status < 500;

/** `It returned 500 to a repeated message.` */
const answered = ({ what, status, error }: TrialDelivery) =>
  status === undefined ? `There was no response to ${what}: ${error}.` : `It returned ${status} to ${what}.`;

const unknown = { origin: 'web', data: { microchip: '968000010203040' } };
const ping = () => ({ type: 'ping', timestamp: new Date().toISOString(), data: { webhookId: 1 } });
const makeSecret = () => secretPrefix + randomBytes(32).toString('base64');

/**
 * A message, and what the receiver must do: `apply` it, `change` what its state shows, `replace` the old value there, `ignore` or
 * `accept` it with 2xx, let a `late` one undo nothing, `refuse` it with 4xx.
 */
type Step = [must: Must, ...Parameters<Trial['send']>];
type Must = 'apply' | 'change' | 'replace' | 'ignore' | 'late' | 'refuse' | 'accept';

/** Takes steps until one has a finding. Leaves out steps that are false. */
const inTurn =
  (stepsOf: (messages: TrialMessages, trial: Trial) => (Step | false)[]): ReceiverCheck['judge'] =>
  async (trial) => {
    for (const step of stepsOf(trial.messages, trial)) {
      const finding = step && (await findingOf(step, trial));
      if (finding) return finding;
    }
    return rightly;
  };

/** What a state may show of an event: the id of its resource, and the name or quantity after and before it. */
function valuesOf({ body }: TrialMessage) {
  const { data, previous } = JSON.parse(body);
  const [value, old] = [data, previous].map((one) => one?.name ?? one?.quantity);
  return { id: data.id ?? data.petId, value, old };
}

/** Whether a state shows a name or a number. */
const shows = (state: string, value: string | number) => new RegExp(`(?<!\\d)${value}(?!\\d)`).test(state);

/** What the receiver does wrong. A refused message is not waited for: a later step applies it. */
async function findingOf([must, ...sent]: Step, { send, state }: Trial): Promise<Finding | undefined> {
  const isQuiet = must === 'ignore' || must === 'late';
  const isSeen = must !== 'refuse' && must !== 'accept';
  const before = isSeen ? await (isQuiet ? state.settled() : state.current()) : '';
  const delivery = await send(...sent);
  const { what, type } = delivery;
  if (must === 'refuse' && !isRefused(delivery))
    return { failed: `${answered(delivery)} It should return 400.` };
  if (must !== 'refuse' && !isAccepted(delivery)) return { failed: answered(delivery) };
  if (!isSeen) return undefined;
  const { id, value, old } = valuesOf(sent[1]);
  // A state without the old value need not show the new one.
  if (must === 'change' && !shows(before, old)) return undefined;
  if (must === 'replace' && !shows(before, old)) return { unseen: 'Its state does not show what changed.' };
  const after = await (isQuiet ? state.afterPause() : state.whenChanged(before));
  if (isQuiet && after === before) return undefined;
  if (must === 'ignore') return { failed: `Its state changed after ${what}.` };
  if (isQuiet) {
    const isBack = [id, value].some((one) => !shows(before, one) && shows(after, one));
    // A record of events still shows the value before, and a sum shows neither.
    if (isBack && !shows(before, old)) return { failed: `Its state shows an old value after ${what}.` };
    return { unseen: 'Its state shows more than current values, so late events may change it.' };
  }
  const { changeMs } = state.times;
  if (after === before)
    return { failed: `${answered(delivery)} Its state did not change within ${changeMs / 1_000} s.` };
  if (must !== 'replace' || !shows(await state.settled(), old)) return undefined;
  // A state with types is a record of events.
  if (after.includes(type)) return { unseen: 'Its state is a record of events.' };
  return { failed: `Its state still shows the old value after ${what}.` };
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
    judge: inTurn(({ of }) => [
      ['apply', 'a new event', of('Comet'), { ageMs: firstAgeMs }],
      ['apply', 'another new event', of('Meteor')],
    ]),
  },
  {
    name: 'body.in-pieces',
    level: 'required',
    advice: 'Collect the bytes of the whole body, and decode them once, at the end, as UTF-8.',
    right: 'An event that came in pieces was applied.',
    judge: inTurn(({ of }) => [['apply', 'an event that came in pieces', of('Grüße 🐉 龍'), { pieces: 4 }]]),
  },
  {
    name: 'secret.rotated',
    level: 'recommended',
    advice: 'Try each signature of `webhook-signature`; they are separated by spaces.',
    right: 'A message with two signatures was accepted.',
    judge: inTurn(({ of }, { secret }) => [
      ['apply', 'an event that two secrets signed', of('Rota'), { secrets: [makeSecret(), secret] }],
    ]),
  },
  {
    name: 'event.once',
    level: 'required',
    advice: 'Store each `webhook-id` in the same transaction as its effect. Return 2xx for a known one.',
    right: 'A repeated message changed nothing, and a new one was not taken for a repeated one.',
    judge: inTurn(({ noun, of, has }) => [
      has('added') && has('changed') && ['apply', `one more new ${noun}`, of('Orion', 'added')],
      has('changed') && ['change', `a change of this ${noun}`, of('Orion', 'changed')],
      has('changed') && ['change', `another change of this ${noun}`, of('Orion', 'changed', 1)],
      ['ignore', 'a repeated message', of('Comet')],
    ]),
  },
  {
    name: 'event.order',
    level: 'required',
    needs: ['changed'],
    advice:
      'Store the `id` of the last event with each resource, even after its deletion, and ignore events of this resource with a smaller id. A timestamp does not order events.',
    right: 'Late events undid nothing.',
    judge: inTurn(({ noun, of, has }) => {
      // A timestamp after that of the last change.
      const later = { timestamp: new Date(Date.now() + 1_000).toISOString() };
      const isRemoved = has('added') && has('removed');
      return [
        ['accept', `the last change of the same ${noun}`, of('Orion', 'changed', 4)],
        ['late', 'an earlier change of it, which came late', of('Orion', 'changed', 2, later)],
        ['apply', `a late event about another ${noun}`, of('Atlas')],
        isRemoved && ['apply', `the removal of the changed ${noun}`, of('Orion', 'removed')],
        isRemoved && ['late', 'a change from before this removal', of('Orion', 'changed', 5)],
      ];
    }),
  },
  {
    name: 'event.early',
    level: 'required',
    needs: ['added', 'changed'],
    advice:
      'Add the resource if an update is about an unknown one, or refuse the update with 503 until the resource is known: it is sent again.',
    right: 'A change that came before its resource was not lost.',
    judge: async ({ send, state, messages: { noun, of } }) => {
      const before = await state.current();
      const early = of('Sirius', 'changed');
      const change = await send(`a change that came before the new ${noun}`, early);
      const sent = [await send(`this new ${noun}`, of('Sirius', 'added'))];
      if (!isAccepted(change)) {
        await state.whenChanged(before);
        sent.push(await send(`${change.what}, sent again`, early));
      }
      const refused = sent.find((delivery) => !isAccepted(delivery));
      if (refused) return { failed: answered(refused) };
      const shown = await state.afterPause();
      const { old, value } = valuesOf(early);
      const isLost = (text: string) => shows(text, old) && !shows(text, value);
      // The receiver may try again by itself.
      if (isLost(shown) && isLost(await state.whenChanged(shown)))
        return { failed: `Its state shows the old value after ${change.what}.` };
      if (shown !== before) return rightly;
      return { failed: `Neither ${change.what} nor this ${noun} changed its state.` };
    },
  },
  {
    name: 'event.replaces',
    level: 'recommended',
    needs: ['added', 'changed'],
    advice: 'Keep one row for each resource, with its `id` as the key, and replace it.',
    right: 'A changed value replaced the old one.',
    judge: inTurn(({ noun, of }) => [
      ['apply', `a new ${noun}, which changes later`, of('Altair', 'added')],
      ['replace', `the change of this ${noun}`, of('Altair', 'changed')],
    ]),
  },
  {
    name: 'signature.checked',
    level: 'required',
    advice:
      'Compute the signature over `webhook-id`, `webhook-timestamp` and the body, compare it in constant time, and return 400 if it differs. Store the `webhook-id` afterwards. The libraries of Standard Webhooks do all of this.',
    right: 'Each forged message was refused.',
    judge: inTurn(({ of }) => [
      ['refuse', 'an event that another secret signed', of('Forged'), { secrets: [makeSecret()] }],
      ['refuse', 'an event that was changed after it was signed', of('Forged'), { body: of('Tide').body }],
      ['refuse', 'an event without a signature', of('Forged'), { secrets: [] }],
      ['apply', 'this event with the right signature', of('Forged')],
    ]),
  },
  {
    name: 'timestamp.checked',
    level: 'required',
    advice: 'Refuse timestamps more than five minutes from now: an attacker may replay a message.',
    right: 'Messages with old and future timestamps were refused.',
    judge: inTurn(({ of }) => [
      ['refuse', 'an event with a timestamp ten minutes in the past', of('Late'), { ageMs: tenMinutesMs }],
      ['refuse', 'an event with a timestamp ten minutes in the future', of('Late'), { ageMs: -tenMinutesMs }],
      ['apply', 'this event with the right timestamp', of('Late')],
    ]),
  },
  {
    name: 'message.unknown',
    level: 'recommended',
    advice: 'Return 2xx for types that you do not handle, and ignore unknown properties.',
    right: 'Unknown types and properties were accepted.',
    judge: inTurn(({ of }) => [
      ['apply', 'an event with unknown properties', of('Fields', undefined, 0, unknown)],
      ['accept', 'a ping', { id: 'evt_try_ping', type: 'ping', body: JSON.stringify(ping()) }],
      ['accept', 'an event of an unknown type', of('Groom', undefined, 0, { type: 'pet.groomed' })],
    ]),
  },
  {
    name: 'body.exact',
    level: 'required',
    advice:
      'Verify the signature over the bytes that came. JSON that is parsed and written again may differ.',
    right: 'An event whose JSON no library writes the same was accepted.',
    judge: inTurn(({ exact }) => [
      ['accept', 'an event with an id above 2^53, an escaped character and a final line end', exact],
    ]),
  },
  {
    name: 'event.once-at-once',
    level: 'required',
    advice:
      'Let the database decide which is first: a unique key on `webhook-id`, in the transaction that applies the event.',
    right: 'Five copies at the same time left the same state as one.',
    judge: async ({ send, state, reset, messages: { of } }) => {
      if (!reset) return { unseen: 'This check needs --reset, to compare with the state after one copy.' };
      // The state is not read: a receiver may store an id of the previous check that it cannot show.
      await state.pause();
      let isAlone = true;
      const afterReset = async (what: string, copyCount = 1, repetitions = 0) => {
        await reset();
        const before = await state.read();
        const meet = meeting(copyCount);
        const copies = await Promise.all(
          Array.from({ length: copyCount }, () => send(what, of('Comet'), { meet })),
        );
        let applied = await state.whenChanged(before);
        // Slower copies may be refused: they are sent again.
        const sent = copies.filter(isAccepted);
        if (sent.length > 1 && (await meet()) > 1) isAlone = false;
        for (let left = copyCount - sent.length + repetitions; left > 0 && sent.every(isAccepted); left--)
          sent.push(await send(`${what}, again`, of('Comet')));
        if (repetitions > 0) applied = await state.settled();
        // When this event shows, those before it have taken effect.
        sent.push(await send('a new event after that', of('Tide')));
        await state.whenChanged(applied);
        const refused = sent.find((one) => !isAccepted(one));
        return { refused, isApplied: applied !== before, applied, state: await state.settled() };
      };
      const once = await afterReset('an event after a reset');
      if (!once.refused && !once.isApplied)
        return { unseen: 'After --reset a known event changed nothing. Let it forget the known ids, too.' };
      const again = await afterReset('an event after another reset', 1, 1);
      // A database may take a number of a row for an attempt that changes nothing.
      const isNumbered = once.state !== again.state && once.applied === again.applied;
      const shown = (text: string) => (isNumbered ? text.replaceAll(/\b\d{1,2}\b/g, '#') : text);
      if (shown(once.state) !== shown(again.state))
        return { unseen: 'After --reset the same event leaves another state, such as another id of a row.' };
      if (once.refused) return { failed: answered(once.refused) };
      // A race is a matter of chance.
      for (let round = 0; round < 3; round++) {
        const together = await afterReset('one of five equal messages', 5);
        if (together.refused) return { failed: answered(together.refused) };
        if (shown(once.state) !== shown(together.state))
          return { failed: 'Five copies at the same time left a different state than one.' };
      }
      if (isAlone) return { unseen: 'The receiver accepted only one copy at a time.' };
      return rightly;
    },
  },
];
