import Type, { type Static, type TProperties } from 'typebox';
import { operations } from '../../operations.ts';
import { DateTime } from '../../schema.ts';
import { dayInSeconds, maxFaults, maxKept } from '../bounds.ts';
import { faultNames, faults } from './faults.ts';

const forKey = faults
  .filter(({ scope, isCondition }) => scope === 'key' && !isCondition)
  .map(({ name }) => `\`${name}\``);
/** What counts apart. */
const apart = `of each operation, or, of ${forKey.join(', ')}, of the key`;

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
      description: `How many requests pass first, ${apart}. A condition takes none.`,
      examples: [0],
    }),
  ),
  times: Type.Optional(
    Type.Integer({
      format: 'int32',
      minimum: 1,
      maximum: 10_000,
      description: `How often it is performed on requests ${apart}; 1 if absent. A condition takes none.`,
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

const examplePlan = { fault: 'rate-limited', operation: 'placeOrder', times: 1, retryAfterSeconds: 2 };

/** As a type the parameters have no names, since the faults declare them. */
const PlannedFault = Type.Unsafe<PlannedFault>(
  Type.Object(plan, {
    title: 'PlannedFault',
    additionalProperties: false,
    description: 'A fault to perform, with its parameters.',
    examples: [examplePlan],
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

const exampleFault = { ...examplePlan, performed: 0, remaining: 1 };

/** In answers, names that a later version may add to are plain strings, so that readers of today bear them. */
const told = {
  fault: Type.String({
    description: 'The name of a fault. `GET /faults` lists those of this version; a later one may have more.',
    examples: ['rate-limited'],
  }),
  operation: Type.Optional(
    Type.String({
      description:
        'The operationId of the only operation that it is for. A later version may have more of them. Absent: every one that it fits.',
      examples: ['placeOrder'],
    }),
  ),
};

const RehearsedFault = Type.Unsafe<RehearsedFault>(
  Type.Object(
    {
      ...plan,
      ...told,
      performed: Type.Integer({
        format: 'int32',
        minimum: 0,
        description: 'How often it was performed. Of a condition, how many answers it has touched.',
        examples: [0],
      }),
      remaining: Type.Optional(
        Type.Integer({
          format: 'int32',
          minimum: 0,
          description:
            'Of a step, how often it will still be performed, on all its operations together: 0 once the rehearsal is over. Of the condition `near-limit`, its parameter as it was asked for, which stays. Other conditions have none.',
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
      examples: [exampleFault],
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
  {
    title: 'Rehearsal',
    description: 'Faults that the service performs for one key.',
    // As it is when it was just begun.
    examples: [
      {
        id: 'rhs_318204975513',
        createdAt: '2026-11-21T09:30:00.000Z',
        expiresAt: '2026-11-21T09:40:00.000Z',
        faults: [exampleFault],
      },
    ],
  },
);
export type Rehearsal = Static<typeof Rehearsal>;

export const Rehearsals = Type.Array(Rehearsal, {
  title: 'RehearsalList',
  description: `Rehearsals, the newest first; ${maxKept} at most.`,
});
