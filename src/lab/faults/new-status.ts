import type { TSchema } from 'typebox';
import { PetStatus } from '../../foundation/schema.ts';
import { fault } from './shared/fault.ts';
import {
  handlesValues,
  ofValues,
  rewriteValues,
  titleOf,
  type ValueRewriter,
} from './shared/value-rewriter.ts';

const [today, later] = ['pending', 'reserved'];

/** The status that clients see under `new-status` in place of a known one. Other texts stay as they are. */
export const toUnknownStatus = (text: string) => (text === today ? later : text);

/** Compares titles, since an optional status is a copy of the schema. */
const isPetStatus = (schema: TSchema) => titleOf(schema) === titleOf(PetStatus);

const rewriter: ValueRewriter = {
  etagMark: 'S',
  toClient: (text, schema) => (isPetStatus(schema) ? toUnknownStatus(text) : text),
  fromClient: (text, schema) => (text === later && isPetStatus(schema) ? today : text),
};

export const newStatus = fault({
  name: 'new-status',
  ...ofValues,
  shows: 'another status',
  fits: (operation, api) => handlesValues(operation, api, isPetStatus),
  level: 'recommended',
  does: `Pets and their stock have a new status, \`${later}\`, instead of \`${today}\`. The service also accepts it in bodies and queries. Applies to all operations.`,
  goodClient: 'Accepts an unknown value: shows it, or treats it as the safest known value.',
  whyItMatters: 'Closed enumerations throw on a new value, and the whole response is lost.',
  perform: (invocation) => rewriteValues(rewriter, invocation),
});
