import { type Static, Type } from 'typebox';
import { DateTime, Id, onlyDescribed, patchOf, Text } from '../../foundation/schema.ts';
import { event } from '../history/event.ts';
import { resourceEvents } from '../resources/resources.ts';
import { workspaceEvents } from '../workspaces/store.ts';
import { maxUrlLength, urlPattern } from './target-policy.ts';

/** The type of the only event about webhooks. */
const disabledType = 'webhook.disabled';

/** All types of events in a history, in the order of the description. `events/schema.ts` has their schemas. */
export const eventTypes = [
  ...[...resourceEvents, ...workspaceEvents].map(({ type }) => type),
  disabledType,
] as const;

export type EventType = (typeof eventTypes)[number];

/** An event type in a request. */
export const KnownEventType = Type.Enum([...eventTypes], {
  type: 'string',
  title: 'EventType',
  // ogen calls the type of the discriminator of Event `EventType` too.
  ...onlyDescribed({ 'x-ogen-name': 'EventTypeName' }),
  description: 'The type of an event. Later versions may add types.',
  examples: ['pet.updated'],
});

export const webhookId = Id('The id of the webhook.');
export const deliveryId = Id('The id of the delivery.');

/** A reserved name (RFC 6761) that belongs to nobody. */
const exampleUrl = 'https://shop.example/petstore-events';
const exampleTime = '2026-11-21T09:30:00.000Z';
const exampleSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2Vv5d7OnLyM=';

const url = Text(
  maxUrlLength,
  'Where events are sent: an absolute `https` URL of a host on the public Internet, without user, password and fragment. If the service has the demo workspace and no other machine can reach it, it also accepts `http` and `https` URLs of its own machine. For that it must listen on a loopback address, have a base URL there, and trust no proxy.',
  exampleUrl,
  onlyDescribed({ pattern: urlPattern }),
);

const fields = {
  url,
  types: Type.Optional(
    Type.Array(KnownEventType, {
      minItems: 1,
      maxItems: eventTypes.length,
      uniqueItems: true,
      description: 'Only events of these types are sent. Absent: all types, including future ones.',
      examples: [['pet.created', 'pet.updated']],
    }),
  ),
  description: Type.Optional(Text(2_000, 'What the webhook is for.', 'Sends new pets to the website.')),
};

const enabled = Type.Boolean({
  description:
    'Whether events are sent. Events that occur while it is `false` are sent when it is `true` again, if they are still stored.',
  examples: [true],
});

export const NewWebhook = Type.Object(fields, { title: 'NewWebhook', description: 'A webhook to add.' });
export type NewWebhook = Static<typeof NewWebhook>;

export const WebhookPatch = Type.Object(patchOf({ ...fields, enabled }), {
  title: 'WebhookPatch',
  examples: [{ types: ['order.placed', 'order.completed', 'order.cancelled'] }],
  description: 'Fields of a webhook to change. A `types` of null means all types.',
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
        'Why the service disabled it: the receiver returned 410 (`gone`), or all attempts failed for five days (`failing`). Absent while it is enabled, or if a request disabled it.',
      examples: ['failing'],
    }),
  ),
  createdAt: DateTime('When it was added, in UTC.', exampleTime),
  previousSecretValidUntil: Type.Optional(
    DateTime(
      'The time until which the previous secret also signs. Absent if the secret was never rotated.',
      '2026-11-22T09:30:00.000Z',
    ),
  ),
  missedEvents: Type.Optional(
    Type.Object(
      {
        count: Type.Integer({
          format: 'int64',
          minimum: 1,
          description: 'Number of missed events of all types since the webhook was added.',
          examples: [1_200],
        }),
        lastEventId: Id('The last missed event.'),
        noticedAt: DateTime('When the service last noticed missed events, in UTC.', exampleTime),
      },
      {
        title: 'MissedEvents',
        description:
          'Events that were removed from the history before they could be sent. The receiver got a message of type `events.missed` for each gap. Absent if there are none.',
        examples: [{ count: 1_200, lastEventId: 5_400, noticedAt: exampleTime }],
      },
    ),
  ),
};

const example = {
  id: 1,
  url: exampleUrl,
  types: ['pet.created', 'pet.updated'],
  description: 'Sends new pets to the website.',
  enabled: true,
  createdAt: exampleTime,
};

export const Webhook = Type.Object(ownFields, {
  title: 'Webhook',
  description: 'A URL that receives the events of the workspace.',
  examples: [example],
});
export type Webhook = Static<typeof Webhook>;

export const webhookDisabled = event({
  type: disabledType,
  data: Webhook,
  meaning: 'The service disabled a webhook. `disabledReason` says why.',
});

export const Webhooks = Type.Array(Webhook, { title: 'Webhooks', description: 'Webhooks, ordered by id.' });

export const WebhookWithSecret = Type.Object(
  {
    ...ownFields,
    secret: Type.String({
      description: 'The secret that signs messages (Standard Webhooks). Save it: it is not shown again.',
      examples: [exampleSecret],
    }),
  },
  {
    title: 'WebhookWithSecret',
    description: 'A webhook with its secret.',
    examples: [{ ...example, secret: exampleSecret }],
  },
);
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

export const DeliveryState = Type.Enum(['pending', 'delivered', 'failed'], {
  type: 'string',
  title: 'DeliveryState',
  description:
    '`pending`: it will be sent or retried; it waits while the webhook is disabled. `delivered`: it arrived. `failed`: the service gave up.',
  examples: ['delivered'],
});
export type DeliveryState = Static<typeof DeliveryState>;

const exampleAttempt = { at: exampleTime, status: 200, durationMs: 48 };

const DeliveryAttempt = Type.Object(
  {
    at: DateTime('When the attempt started, in UTC.', exampleTime),
    status: Type.Optional(
      Type.Integer({
        format: 'int32',
        description: 'The status of the response. Absent if there was none.',
        examples: [200],
      }),
    ),
    durationMs: Type.Integer({
      format: 'int64',
      description: 'The duration in milliseconds.',
      examples: [48],
    }),
    error: Type.Optional(
      Type.String({
        description: 'Why it failed. Absent if it succeeded.',
        examples: ['The receiver returned 500.'],
      }),
    ),
  },
  {
    title: 'DeliveryAttempt',
    description: 'One request to the URL of a webhook, with its result.',
    examples: [exampleAttempt],
  },
);
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

export const Delivery = Type.Object(
  {
    id: Id('Unique identifier.'),
    webhookId: Id('The webhook that it is for.'),
    messageId: Type.String({
      description: '`webhook-id` of its requests, the same in each attempt.',
      examples: ['evt_3kq0x9v7m2n5b8c1z4l6j0h2g'],
    }),
    eventId: Type.Optional(
      Id('The event that is sent. For `events.missed` the last missed event. Absent for a `ping`.'),
    ),
    type: Type.String({
      description: 'The type of the event, `ping`, or `events.missed`.',
      examples: ['pet.created'],
    }),
    state: DeliveryState,
    attempts: Type.Array(DeliveryAttempt, { description: 'The attempts so far, at most the last twenty.' }),
    nextAttemptAt: Type.Optional(
      DateTime(
        'When the next attempt is due, in UTC. Absent if there is none, or if it is due at once.',
        '2026-11-21T09:30:05.000Z',
      ),
    ),
    createdAt: DateTime('When it was first sent or requested, in UTC.', exampleTime),
  },
  {
    title: 'Delivery',
    description: 'A message to a webhook: an event, a `ping`, or a notice of missed events.',
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
export type Delivery = Static<typeof Delivery>;

export const Deliveries = Type.Array(Delivery, {
  title: 'Deliveries',
  description: 'Deliveries, newest first.',
});

export const Ping = Type.Object(
  {
    type: Type.Literal('ping', { description: 'Distinguishes it from events.', examples: ['ping'] }),
    timestamp: DateTime('When it was requested, in UTC.', exampleTime),
    data: Type.Object(
      { webhookId: Id('The webhook that it is for.') },
      { description: 'The tested webhook.' },
    ),
  },
  { title: 'Ping', description: 'A message without an event, to test a webhook.' },
);
export type Ping = Static<typeof Ping>;

/** The message about events that were never sent. */
export const EventsMissed = Type.Object(
  {
    type: Type.Literal('events.missed', {
      description: 'Distinguishes it from events.',
      examples: ['events.missed'],
    }),
    timestamp: DateTime('When the service noticed the gap, in UTC.', exampleTime),
    data: Type.Object(
      {
        webhookId: Id('The webhook that it is for.'),
        firstEventId: Id('The first missed event.'),
        lastEventId: Id('The last missed event.'),
      },
      { description: 'The missed events, whatever their types.' },
    ),
  },
  {
    title: 'EventsMissed',
    description:
      'A message about events that were removed from the history before they could be sent. It comes before the next event. Read the lists again.',
  },
);
export type EventsMissed = Static<typeof EventsMissed>;
