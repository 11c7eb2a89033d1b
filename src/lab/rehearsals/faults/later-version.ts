import type { TSchema } from 'typebox';
import { PetStatus } from '../../../schema.ts';
import { fault } from '../fault.ts';
import { concerns, effectOf, type World } from '../world.ts';

/** What a later version tells of everything: a string, null, a list and an object. No schema of today has such names. */
const laterFields = {
  revision: 'b7',
  archivedAt: null,
  labels: ['new'],
  origin: { channel: 'counter', labels: [] },
};

const laterMembers = JSON.stringify(laterFields).slice(1, -1);

const titleOf = (schema: TSchema) => (schema as { title?: string }).title;

/** What is named as a thing of its own gets them. What an event says of before has only what changed. */
function isResource(schema: TSchema): boolean {
  const title = titleOf(schema);
  return 'properties' in schema && title !== undefined && !title.startsWith('Previous');
}

const asItIs = (text: string) => text;

const withNewFields: World = {
  mark: 'F',
  shown: asItIs,
  meant: asItIs,
  added: (schema) => (isResource(schema) ? laterMembers : ''),
};

export const newFields = fault({
  name: 'new-fields',
  parameters: {},
  isCondition: true,
  isForAll: true,
  fits: (operation) => concerns(operation, isResource),
  group: 'Values',
  level: 'required',
  does: 'Each object of an answer has a few properties of a later additive version, in lists and events too. They are ignored where they are sent back. Holds for all operations alike.',
  goodClient: 'Ignores what it does not know.',
  bites:
    'Strict parsers and closed types refuse answers that only say more, and break with the next version.',
  perform: (performance) => effectOf(withNewFields, performance),
});

const [today, later] = ['pending', 'reserved'];

/** Where it is optional, the schema is a copy with the same title. */
const isPetStatus = (schema: TSchema) => titleOf(schema) === titleOf(PetStatus);

const withNewStatus: World = {
  mark: 'S',
  shown: (text, schema) => (text === today && isPetStatus(schema) ? later : text),
  meant: (text, schema) => (text === later && isPetStatus(schema) ? today : text),
  added: () => '',
};

export const newStatus = fault({
  name: 'new-status',
  parameters: {},
  isCondition: true,
  isForAll: true,
  fits: (operation) => concerns(operation, isPetStatus),
  group: 'Values',
  level: 'recommended',
  does: `Pets and their stock that are \`${today}\` have a status of a later version instead, \`${later}\`, which is understood in bodies and queries, too. Holds for all operations alike.`,
  goodClient:
    'Bears a value that it does not know: shows it, or takes it for the most careful of those that it knows.',
  bites: 'Closed enumerations throw on a new value, and lose the whole answer with it.',
  perform: (performance) => effectOf(withNewStatus, performance),
});
