import { type Static, Type } from 'typebox';
import { Shown } from '../../foundation/schema.ts';
import { faults } from '../faults/list.ts';
import { rateLimited } from '../faults/rate-limited.ts';
import { integer } from '../faults/shared/fault.ts';
import type { TargetApi } from '../target-api.ts';

const FaultParameter = Type.Object(
  {
    name: Shown('Its name.', 'retryAfterSeconds'),
    description: Shown('What it means.', 'What `Retry-After` says, in seconds.'),
    minimum: Type.Optional(integer({}, 'The smallest value of an integer.', 1)),
    maximum: Type.Optional(integer({}, 'The largest value of an integer.', 86_400)),
    default: Type.Optional(integer({}, 'The value of an integer if it is absent.', 1)),
    values: Type.Optional(
      Type.Array(Shown('A value.', 'none'), {
        description: 'The values of a parameter that is a string. The first is the default.',
      }),
    ),
  },
  {
    title: 'FaultParameter',
    description:
      'A parameter of a fault: an integer, with `minimum`, `maximum` and `default`, or a string, with `values`.',
    examples: [
      {
        name: 'retryAfterSeconds',
        description: 'What `Retry-After` says, in seconds.',
        minimum: 1,
        maximum: 86_400,
        default: 1,
      },
    ],
  },
);

const Fault = Type.Object(
  {
    name: Shown('Its name.', rateLimited.name),
    group: Shown(
      'The heading under which it is listed. Later versions may have other groups.',
      rateLimited.group,
    ),
    kind: Shown(
      'A `step` is performed a number of times. A `condition` lasts as long as its rehearsal, and takes no `times` and no `after`. Later versions may have other kinds.',
      'step',
    ),
    takesOperation: Type.Boolean({
      description: 'Whether `operation` can restrict it to one operation.',
      examples: [true],
    }),
    parameters: Type.Array(FaultParameter, { description: 'Its own parameters.' }),
    operations: Type.Array(Shown('An operationId.', 'placeOrder'), {
      description: 'The operations that it can affect.',
    }),
    level: Shown(
      'Whether a client must (`required`) or should (`recommended`) produce the same result with the fault as without.',
      rateLimited.level,
    ),
    does: Shown('What the service does.', rateLimited.does),
    goodClient: Shown('What a good client does.', rateLimited.goodClient),
    bites: Shown('Why it matters: what went wrong in real clients.', rateLimited.whyItMatters),
  },
  { title: 'Fault', description: 'A failure or an unusual response that the service performs on demand.' },
);

export const FaultList = Type.Array(Fault, { title: 'FaultList', description: 'Faults.' });

type ParameterSchema = Static<typeof FaultParameter> & { enum?: string[] };

/** The response to `GET /faults`. */
export const faultCatalogue = (api: TargetApi): Static<typeof FaultList> =>
  faults.map(({ name, group, level, does, goodClient, whyItMatters: bites, ...fault }) => ({
    ...{ name, group, kind: fault.isCondition ? 'condition' : 'step' },
    takesOperation: !fault.takesNoOperation,
    parameters: Object.entries(fault.parameters).map(([parameter, schema]) => {
      const { description, enum: values, minimum, maximum, default: usual } = schema as ParameterSchema;
      const allowed = values ? { values } : { minimum, maximum, default: usual };
      return { name: parameter, description, ...allowed } as Static<typeof FaultParameter>;
    }),
    operations: api.operations.filter((operation) => fault.fits(operation, api)).map(({ id }) => id),
    ...{ level, does, goodClient, bites },
  }));
