import Type, { type Static } from 'typebox';
import type { Operation } from '../../operation.ts';
import { Shown } from '../../schema.ts';
import { rateLimited } from './faults/refusals.ts';
import { faults } from './faults.ts';

const number = (description: string, example: number) =>
  Type.Integer({ format: 'int32', description, examples: [example] });

const FaultParameter = Type.Object(
  {
    name: Shown('Its name.', 'retryAfterSeconds'),
    description: Shown('What it means.', 'What `Retry-After` says, in seconds.'),
    minimum: number('The least value.', 1),
    maximum: number('The greatest value.', 86_400),
    default: number('The value if it is absent.', 1),
  },
  { title: 'FaultParameter', description: 'A parameter of a fault; each is an integer.' },
);

const Fault = Type.Object(
  {
    name: Shown('Its name.', rateLimited.name),
    group: Shown(
      'What it is about, as a heading. Faults of a group belong together; a later version may have other groups.',
      rateLimited.group,
    ),
    kind: Shown(
      'A `step` is performed a number of times. A `condition` lasts as long as its rehearsal, and takes no `times` and no `after`. A later version may have other kinds.',
      'step',
    ),
    takesOperation: Type.Boolean({
      description: 'Whether it can be for one operation alone, which `operation` names.',
      examples: [true],
    }),
    parameters: Type.Array(FaultParameter, { description: 'What it takes besides.' }),
    operations: Type.Array(Type.String({ description: 'An operationId.', examples: ['placeOrder'] }), {
      description: 'The operations that it can touch.',
    }),
    level: Shown(
      'Whether a client must survive it, `required`, or had better, `recommended`: do under it what it does without.',
      rateLimited.level,
    ),
    does: Shown('What the service does.', rateLimited.does),
    goodClient: Shown('What a good client does.', rateLimited.goodClient),
    bites: Shown('Where users were bitten by it.', rateLimited.bites),
  },
  { title: 'Fault', description: 'A hard case that the service performs on demand.' },
);

export const FaultList = Type.Array(Fault, { title: 'FaultList', description: 'Faults.' });

/** Every fault, for the operations that it can touch. */
export const toCatalogue = (operations: readonly Operation[]): Static<typeof FaultList> =>
  faults.map(({ name, group, isCondition, isForAll, parameters, fits, level, does, goodClient, bites }) => ({
    name,
    group,
    kind: isCondition ? 'condition' : 'step',
    takesOperation: !isForAll,
    parameters: Object.entries(parameters).map(([parameter, schema]) => {
      const { description, minimum, maximum, default: usual } = schema as Static<typeof FaultParameter>;
      return { name: parameter, description, minimum, maximum, default: usual };
    }),
    operations: operations.filter(fits).map(({ id }) => id),
    level,
    does,
    goodClient,
    bites,
  }));
