import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { DateTime, Shown, Text } from '../../foundation/schema.ts';
import { faultNames, faults, faultsThat } from '../faults/list.ts';
import { integer } from '../faults/shared/fault.ts';
import { maxFaults, maxKept, maxLifeSeconds, maxUses } from '../lab-bounds.ts';
import type { TargetApi } from '../target-api.ts';

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

const forKey = faultsThat(({ scope, isCondition }) => scope === 'key' && !isCondition);
const scopes = `of each operation (for ${listed(forKey)}: of the key)`;

export const rehearsalId = Text(64, 'The id of the rehearsal.', 'rhs_318204975513');

export const usualRehearsalSeconds = 600;

/** Faults that share the name of a parameter share its schema. */
const parameters: TProperties = Object.fromEntries(
  faults.flatMap((fault) =>
    Object.entries(fault.parameters).map(([name, schema]) => {
      const takers = faultsThat((other) => name in other.parameters);
      const {
        description,
        default: _,
        ...rest
      } = schema as TSchema & { description: string; default: unknown };
      return [
        name,
        Type.Optional({ ...rest, description: `Of ${listed(takers)}: ${description}` } as TSchema),
      ];
    }),
  ),
);

/** The parameters that every step takes. */
const stepCounts = {
  after: Type.Optional(
    integer(
      { minimum: 0, maximum: maxUses },
      `How many requests ${scopes} pass before the fault. Not for conditions.`,
      0,
    ),
  ),
  times: Type.Optional(
    integer(
      { minimum: 1, maximum: maxUses },
      `How often it is performed on requests ${scopes}. Default: 1. Not for conditions.`,
      1,
    ),
  ),
};

export interface PlannedFault {
  fault: string;
  operation?: string;
  after?: number;
  times?: number;
  /** Parameters of the fault. */
  [parameter: string]: number | string | undefined;
}

export interface RehearsedFault extends PlannedFault {
  performed: number;
  remaining?: number;
  repeated?: number;
}

const examplePlan = { fault: 'rate-limited', operation: 'placeOrder', times: 1, retryAfterSeconds: 2 };
const exampleFault = { ...examplePlan, performed: 0, remaining: 1 };

/** In responses these names are plain strings, because names may be added. */
const openNames = {
  ...Object.fromEntries(
    Object.entries(parameters).flatMap(([name, schema]) => {
      const { enum: names, default: _, ...open } = schema as TSchema & { enum?: string[]; default?: string };
      return names ? [[name, Type.Optional(Type.String(open))]] : [];
    }),
  ),
  fault: Shown(
    'The name of a fault. `GET /faults` lists them. Later versions may add faults.',
    'rate-limited',
  ),
  operation: Type.Optional(
    Shown(
      'The operationId of the only operation that it affects. Later versions may add operations. Absent: every operation that it fits.',
      'placeOrder',
    ),
  ),
};

/** The schemas of rehearsals of an API. They list its operations. */
export function rehearsalSchemas({ operations }: TargetApi) {
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
          description:
            'The operationId of the operation that it affects. Absent: every operation that it fits.',
          examples: ['placeOrder'],
        },
      ),
    ),
    ...stepCounts,
    ...parameters,
  };

  /** The type does not name the parameters: faults declare them. */
  const PlannedFault = Type.Unsafe<PlannedFault>(
    Type.Object(plan, {
      title: 'PlannedFault',
      additionalProperties: false,
      description: 'A fault to perform, with its parameters.',
      examples: [examplePlan],
    }),
  );

  const NewRehearsal = Type.Object(
    {
      faults: Type.Array(PlannedFault, {
        minItems: 1,
        maxItems: maxFaults,
        description: 'Faults to perform. Steps are performed in this order. Conditions apply all the time.',
      }),
      expiresInSeconds: Type.Optional(
        integer(
          { minimum: 1, maximum: maxLifeSeconds },
          `How long the rehearsal lasts, in seconds. Default: ${usualRehearsalSeconds}.`,
          600,
        ),
      ),
    },
    { title: 'NewRehearsal', description: 'A rehearsal to start.' },
  );

  const RehearsedFault = Type.Unsafe<RehearsedFault>(
    Type.Object(
      {
        ...plan,
        ...openNames,
        performed: integer(
          { minimum: 0 },
          'How often it was performed. For a condition: how many responses it has changed.',
          0,
        ),
        remaining: Type.Optional(
          integer(
            { minimum: 0 },
            'For a step: how many performances remain, on all its operations together. 0 after the end of the rehearsal. For the condition `near-limit`: its parameter, which does not change. Absent for other conditions.',
            1,
          ),
        ),
        repeated: Type.Optional(
          integer(
            { minimum: 1 },
            'How many requests came before the end of `Retry-After`, and got the fault again.',
            1,
          ),
        ),
      },
      {
        title: 'RehearsedFault',
        description: 'A fault of a rehearsal, and how often it was performed.',
        examples: [exampleFault],
      },
    ),
  );

  const Rehearsal = Type.Object(
    {
      id: rehearsalId,
      createdAt: DateTime('When it began.', '2026-11-21T09:30:00.000Z'),
      expiresAt: DateTime('When it expires.', '2026-11-21T09:40:00.000Z'),
      endedAt: Type.Optional(
        DateTime('When a request or the next rehearsal ended it.', '2026-11-21T09:35:00.000Z'),
      ),
      faults: Type.Array(RehearsedFault, { description: 'Its faults, in order.' }),
    },
    {
      title: 'Rehearsal',
      description: 'Faults that the service performs for one key.',
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
  const RehearsalList = Type.Array(Rehearsal, {
    title: 'RehearsalList',
    description: `Rehearsals, newest first; ${maxKept} at most.`,
  });
  return { NewRehearsal, Rehearsal, RehearsalList };
}
export type Rehearsal = Static<ReturnType<typeof rehearsalSchemas>['Rehearsal']>;
