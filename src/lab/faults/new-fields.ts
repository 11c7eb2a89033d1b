import type { TSchema } from 'typebox';
import { fault } from './shared/fault.ts';
import {
  handlesValues,
  ofValues,
  rewriteValues,
  titleOf,
  type ValueRewriter,
} from './shared/value-rewriter.ts';

/** Properties that a later version could add: a string, null, a list and an object. No schema of today has these names. */
const laterFields = {
  revision: 'b7',
  archivedAt: null,
  labels: ['new'],
  origin: { channel: 'counter', labels: [] },
};

export const laterFieldNames = Object.keys(laterFields);

const laterMembers = JSON.stringify(laterFields).slice(1, -1);

/** Objects with a title get the properties, except `Previous…`: an event lists there only what has changed. */
function isResource(schema: TSchema): boolean {
  const title = titleOf(schema);
  return 'properties' in schema && title !== undefined && !title.startsWith('Previous');
}

const rewriter: ValueRewriter = {
  etagMark: 'F',
  toClient: (text) => text,
  fromClient: (text) => text,
  addedMembers: (schema) => (isResource(schema) ? laterMembers : ''),
};

export const newFields = fault({
  name: 'new-fields',
  isQuick: true,
  ...ofValues,
  shows: 'more fields',
  fits: (operation, api) => handlesValues(operation, api, isResource),
  level: 'required',
  does: 'Each object in a response has a few additional properties, such as a later version may add. This includes objects in lists and events. The service ignores them in requests. Applies to all operations.',
  goodClient: 'Ignores unknown properties.',
  whyItMatters:
    'Strict parsers and closed types reject responses with additional properties, and break with the next version.',
  perform: (invocation) => rewriteValues(rewriter, invocation),
});
