import Type from 'typebox';
import { DateTime, Id, ofForm, patchOf, Text } from '../foundation/schema.ts';
import { eventTypes, KnownEventType } from './event-types.ts';
import { maxUrlLength, urlPattern } from './target-policy.ts';

export const webhookId = Id('The id of the webhook.');
export const deliveryId = Id('The id of the delivery.');

/** A reserved name (RFC 6761), so that this example reaches nobody. */
const exampleUrl = 'https://shop.example/petstore-events';
const exampleTime = '2026-11-21T09:30:00.000Z';
const exampleSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2Vv5d7OnLyM=';

const url = Text(
  maxUrlLength,
  'Where events are sent: a complete `https` URL of a host on the public Internet, without user, password and fragment. The demonstration on a loopback address also sends to its own machine, by `http` too.',
  exampleUrl,
  ofForm(urlPattern),
);

const fields = {
  url,
  types: Type.Optional(
    Type.Array(KnownEventType, {
      minItems: 1,
      maxItems: eventTypes.length,
      uniqueItems: true,
      description: 'Only events of these types are sent. Absent: all, also types that are added later.',
      examples: [['pet.created', 'pet.updated']],
    }),
  ),
  description: Type.Optional(Text(2_000, 'What the webhook is for.', 'Tells the website of new pets.')),
};

const enabled = Type.Boolean({
  description:
    'Whether events are sent. What happens while it is `false` is sent once it is `true` again, as far as the history is kept.',
  examples: [true],
});

export const NewWebhook = Type.Object(fields, { title: 'NewWebhook', description: 'A webhook to add.' });
export type NewWebhook = Type.Static<typeof NewWebhook>;

export const WebhookPatch = Type.Object(patchOf({ ...fields, enabled }), {
  title: 'WebhookPatch',
  examples: [{ types: ['order.placed', 'order.completed', 'order.cancelled'] }],
  description: 'Fields of a webhook to change. `types` of null stands for all types.',
});

const disabledReasons = ['gone', 'failing'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

const ownFields = {
  id: Id('Unique identifier assigned on creation.'),
  ...fields,
  enabled,
  disabledReason: Type.Optional(
    Type.Enum([...disabledReasons], {
      type: 'string',
      description:
        'Why the service disabled it: the receiver answered 410 (`gone`), or nothing but failures came of it for five days (`failing`). Absent while it is enabled, and where a request disabled it.',
      examples: ['failing'],
    }),
  ),
  createdAt: DateTime('When it was added, in UTC.', exampleTime),
  previousSecretValidUntil: Type.Optional(
    DateTime(
      'Until when the secret before the present one signs, too. Absent if the secret was never rotated.',
      '2026-11-22T09:30:00.000Z',
    ),
  ),
  missedEvents: Type.Optional(
    Type.Object(
      {
        count: Type.Integer({
          format: 'int64',
          minimum: 1,
          description: 'How many, of all types, since the webhook was added.',
          examples: [1_200],
        }),
        lastEventId: Id('The last of them.'),
        noticedAt: DateTime('When the service last came to such events, in UTC.', exampleTime),
      },
      {
        title: 'MissedEvents',
        description:
          'Events that were never sent, because the history no longer held them when their turn came. The receiver got a message of type `events.missed` for each gap. Absent while there is none.',
        examples: [{ count: 1_200, lastEventId: 5_400, noticedAt: exampleTime }],
      },
    ),
  ),
};

const example = {
  id: 1,
  url: exampleUrl,
  types: ['pet.created', 'pet.updated'],
  description: 'Tells the website of new pets.',
  enabled: true,
  createdAt: exampleTime,
};

export const Webhook = Type.Object(ownFields, {
  title: 'Webhook',
  description: 'An address to which the events of the workspace are sent.',
  examples: [example],
});
export type Webhook = Type.Static<typeof Webhook>;

export const Webhooks = Type.Array(Webhook, {
  title: 'Webhooks',
  description: 'Webhooks in the order of their ids.',
});

export const WebhookWithSecret = Type.Object(
  {
    ...ownFields,
    secret: Type.String({
      description:
        'The secret that signs what is sent (Standard Webhooks). Keep it: no other answer shows it again.',
      examples: [exampleSecret],
    }),
  },
  {
    title: 'WebhookWithSecret',
    description: 'A webhook with its secret.',
    examples: [{ ...example, secret: exampleSecret }],
  },
);
export type WebhookWithSecret = Type.Static<typeof WebhookWithSecret>;

export const DeliveryState = Type.Enum(['pending', 'delivered', 'failed'], {
  type: 'string',
  title: 'DeliveryState',
  description:
    'Whether it will be sent (again), has arrived, or was given up. While the webhook is disabled, `pending` ones wait.',
  examples: ['delivered'],
});
export type DeliveryState = Type.Static<typeof DeliveryState>;

const exampleAttempt = { at: exampleTime, status: 200, durationMs: 48 };

const Attempt = Type.Object(
  {
    at: DateTime('When it began, in UTC.', exampleTime),
    status: Type.Optional(
      Type.Integer({
        format: 'int32',
        description: 'The status of the answer. Absent if there was none.',
        examples: [200],
      }),
    ),
    durationMs: Type.Integer({
      format: 'int64',
      description: 'How long it took, in milliseconds.',
      examples: [48],
    }),
    error: Type.Optional(
      Type.String({ description: 'Why it failed. Absent if it did not.', examples: ['Answered 500.'] }),
    ),
  },
  {
    title: 'DeliveryAttempt',
    description: 'One request to the URL of a webhook, and what became of it.',
    examples: [exampleAttempt],
  },
);
export type Attempt = Type.Static<typeof Attempt>;

export const Delivery = Type.Object(
  {
    id: Id('Unique identifier.'),
    webhookId: Id('The webhook that it is for.'),
    messageId: Type.String({
      description: '`webhook-id` of its requests, which stays the same when it is sent again.',
      examples: ['evt_3kq0x9v7m2n5b8c1z4l6j0h2g'],
    }),
    eventId: Type.Optional(
      Id('The event that is sent; for `events.missed` the last that was missed. Absent for a `ping`.'),
    ),
    type: Type.String({
      description: 'The type of the event, `ping`, or `events.missed`.',
      examples: ['pet.created'],
    }),
    state: DeliveryState,
    attempts: Type.Array(Attempt, { description: 'The attempts until now, the last twenty at most.' }),
    nextAttemptAt: Type.Optional(
      DateTime(
        'When the next attempt is due, in UTC. Absent if there is none, or if it is due at once.',
        '2026-11-21T09:30:05.000Z',
      ),
    ),
    createdAt: DateTime('When it was first sent or asked for, in UTC.', exampleTime),
  },
  {
    title: 'Delivery',
    description: 'An event, a `ping`, or a message about missed events, on its way to a webhook.',
    examples: [
      {
        id: 1,
        webhookId: 1,
        messageId: 'evt_3kq0x9v7m2n5b8c1z4l6j0h2g',
        eventId: 1,
        type: 'pet.created',
        state: 'delivered',
        attempts: [exampleAttempt],
        createdAt: exampleTime,
      },
    ],
  },
);
export type Delivery = Type.Static<typeof Delivery>;

export const Deliveries = Type.Array(Delivery, {
  title: 'Deliveries',
  description: 'Deliveries, the newest first.',
});

/** The message of `pingWebhook`. */
export const Ping = Type.Object(
  {
    type: Type.Literal('ping', { description: 'Distinguishes it from events.', examples: ['ping'] }),
    timestamp: DateTime('When it was asked for, in UTC.', exampleTime),
    data: Type.Object(
      { webhookId: Id('The webhook that it is for.') },
      { description: 'The webhook that is tried.' },
    ),
  },
  { title: 'Ping', description: 'A message that tells of no event, to try a webhook.' },
);
export type Ping = Type.Static<typeof Ping>;

/** The message about events that were never sent. */
export const EventsMissed = Type.Object(
  {
    type: Type.Literal('events.missed', {
      description: 'Distinguishes it from events.',
      examples: ['events.missed'],
    }),
    timestamp: DateTime('When the service noticed it, in UTC.', exampleTime),
    data: Type.Object(
      {
        webhookId: Id('The webhook that it is for.'),
        firstEventId: Id('The first event that was missed.'),
        lastEventId: Id('The last event that was missed.'),
      },
      { description: 'The gap, with events of all types.' },
    ),
  },
  {
    title: 'EventsMissed',
    description:
      'A message about events that are never sent, because the history no longer held them when their turn came. It comes before the next event. Read the lists again.',
  },
);
export type EventsMissed = Type.Static<typeof EventsMissed>;
