import type { TSchema } from 'typebox';
import { PetStatus } from '../../foundation/schema.ts';
import { fault } from './shared/fault.ts';
import { handlesValues, rewriteValues, titleOf, type ValueRewriter } from './shared/value-rewriter.ts';

const [today, later] = ['pending', 'reserved'];

/** Compares titles, since an optional status is a copy of the schema. */
const isPetStatus = (schema: TSchema) => titleOf(schema) === titleOf(PetStatus);

const rewriter: ValueRewriter = {
  etagMark: 'S',
  toClient: (text, schema) => (text === today && isPetStatus(schema) ? later : text),
  fromClient: (text, schema) => (text === later && isPetStatus(schema) ? today : text),
  addedMembers: () => '',
};

export const newStatus = fault({
  name: 'new-status',
  isCondition: true,
  takesNoOperation: true,
  fits: (operation) => handlesValues(operation, isPetStatus),
  undescribed: ['values'],
  changesAnswers: true,
  group: 'Values',
  level: 'recommended',
  does: `Pets and their stock that are \`${today}\` have a status of a later version instead, \`${later}\`, which is understood in bodies and queries, too. Holds for all operations alike.`,
  goodClient:
    'Bears a value that it does not know: shows it, or takes it for the most careful of those that it knows.',
  consequence: 'Closed enumerations throw on a new value, and lose the whole answer with it.',
  perform: (invocation) => rewriteValues(rewriter, invocation),
});
