import Type, { type Static, type TProperties } from 'typebox';
import { operations } from '../../operations.ts';
import { DateTime } from '../../schema.ts';
import { dayInSeconds, maxFaults } from '../bounds.ts';
import { faultNames, faults } from './faults.ts';

export const rehearsalId = Type.String({
  maxLength: 64,
  description: 'The id of the rehearsal.',
  examples: ['rhs_318204975513'],
});

export const defaultExpirySeconds = 600;

/** A parameter that several faults take is the same in each. */
const parameters: TProperties = Object.fromEntries(
  faults.flatMap((fault) =>
    Object.entries(fault.parameters).map(([name, schema]) => {
      const takers = faults.filter((other) => name in other.parameters).map((other) => `\`${other.name}\``);
      const {
        description,
        default: _,
        ...rest
      } = schema as typeof schema & {
        description: string;
        default: number;
      };
      return [
        name,
        Type.Optional({ ...rest, description: `Of ${takers.join(', ')}: ${description}` } as typeof schema),
      ];
    }),
  ),
);

const plan = {
  fault: Type.Enum(faultNames, {
    type: 'string',
    description: 'The name of a fault. `GET /faults` lists them.',
    examples: ['rate-limited'],
  }),
  operation: Type.Optional(
    Type.Enum(
      operations.map(({ id }) => id),
      {
        type: 'string',
        description: 'The operation that it is for, by its operationId. Without it, every one that it fits.',
        examples: ['placeOrder'],
      },
    ),
  ),
  after: Type.Optional(
    Type.Integer({
      format: 'int32',
      minimum: 0,
      maximum: 10_000,
      description: 'How many requests pass first, of each operation. A condition takes none.',
      examples: [0],
    }),
  ),
  times: Type.Optional(
    Type.Integer({
      format: 'int32',
      minimum: 1,
      maximum: 10_000,
      description: 'How often it is performed, on each operation; 1 if absent. A condition takes none.',
      examples: [1],
    }),
  ),
  ...parameters,
};

export interface PlannedFault {
  fault: string;
  operation?: string;
  after?: number;
  times?: number;
  /** Of other names, which are those of parameters, a number. */
  [parameter: string]: number | string | undefined;
}

/** As a type the parameters have no names, since the faults declare them. */
const PlannedFault = Type.Unsafe<PlannedFault>(
  Type.Object(plan, {
    title: 'PlannedFault',
    additionalProperties: false,
    description: 'A fault to perform, with its parameters.',
    examples: [{ fault: 'rate-limited', operation: 'placeOrder', times: 1, retryAfterSeconds: 2 }],
  }),
);

export const NewRehearsal = Type.Object(
  {
    faults: Type.Array(PlannedFault, {
      minItems: 1,
      maxItems: maxFaults,
      description: 'Faults to perform. Steps are consumed in this order; conditions hold all the time.',
    }),
    expiresInSeconds: Type.Optional(
      Type.Integer({
        format: 'int32',
        minimum: 1,
        maximum: dayInSeconds,
        description: `How long the rehearsal lasts; ${defaultExpirySeconds} if absent.`,
        examples: [600],
      }),
    ),
  },
  { title: 'NewRehearsal', description: 'A rehearsal to begin.' },
);

export interface RehearsedFault extends PlannedFault {
  performed: number;
  remaining?: number;
  repeated?: number;
}

const RehearsedFault = Type.Unsafe<RehearsedFault>(
  Type.Object(
    {
      ...plan,
      performed: Type.Integer({
        format: 'int32',
        minimum: 0,
        description: 'How often it was performed.',
        examples: [0],
      }),
      remaining: Type.Optional(
        Type.Integer({
          format: 'int32',
          minimum: 0,
          description:
            'How often it will still be performed, on all its operations together. Of the condition `near-limit`, its parameter; other conditions have none.',
          examples: [1],
        }),
      ),
      repeated: Type.Optional(
        Type.Integer({
          format: 'int32',
          minimum: 1,
          description: 'How many requests came sooner than they were told, and got it again.',
          examples: [1],
        }),
      ),
    },
    {
      title: 'RehearsedFault',
      description: 'A fault of a rehearsal, and how often it was performed.',
      examples: [
        {
          fault: 'rate-limited',
          operation: 'placeOrder',
          times: 1,
          retryAfterSeconds: 2,
          performed: 0,
          remaining: 1,
        },
      ],
    },
  ),
);

export const Rehearsal = Type.Object(
  {
    id: rehearsalId,
    createdAt: DateTime('When it began.', '2026-11-21T09:30:00.000Z'),
    expiresAt: DateTime('When it ends by itself.', '2026-11-21T09:40:00.000Z'),
    endedAt: Type.Optional(
      DateTime('When it was ended, by a request or by the next rehearsal.', '2026-11-21T09:35:00.000Z'),
    ),
    faults: Type.Array(RehearsedFault, { description: 'Its faults, in their order.' }),
  },
  { title: 'Rehearsal', description: 'Faults that the service performs for one key.' },
);
export type Rehearsal = Static<typeof Rehearsal>;

export const Rehearsals = Type.Array(Rehearsal, {
  title: 'RehearsalList',
  description: 'Rehearsals, the newest first.',
});
