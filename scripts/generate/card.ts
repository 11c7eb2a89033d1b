/** Writes `docs/grade-card.md` from the schema of a card: `npm run generate -- card`. */

import { writeFileSync } from 'node:fs';
import type { TSchema } from 'typebox';
import { markdownTable } from '../../src/foundation/words.ts';
import { CardData, cardVersion } from '../../src/grade/card-schema.ts';

/** What the page reads of a schema. */
interface Described {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  description?: string;
  properties?: Record<string, TSchema>;
  required?: string[];
  items?: TSchema;
  anyOf?: TSchema[];
}

/** The page about a card as JSON. */
export const cardPage = () =>
  `${[
    '# A report card as JSON',
    'This page is generated from the code by `npm run generate`.',
    `\`petstore grade --json\` prints the report card as an object of version ${cardVersion}. The version rises when a property is removed or its
meaning changes. New properties may appear in the same version: ignore those that you do not know. [examples/ci](../examples/ci) shows how to use a
card in CI, and what \`--compare\` does with it. With a clone beside your project, run this in your project: the program runs there, and files are read
and written there.`,
    ['```sh', 'npm run -s --prefix ../petstore petstore -- grade --json -- npm test > card.json', '```'].join(
      '\n',
    ),
    `\`?\` marks a property that may be absent, and \`[]\` a list. Items that occur in several lists are described once, at the first.`,
    markdownTable(['Property', 'Type', 'What it is'], rowsOf(CardData)),
  ].join('\n\n')}\n`;

/** `seen`: schemas that the page has described. */
function rowsOf(schema: TSchema, path = '', seen = new Set<TSchema>()): string[][] {
  const { properties = {}, required = [] } = schema as Described;
  return Object.entries(properties).flatMap(([name, property]) => {
    const { items, description = '' } = property as Described;
    const isOptional = !required.includes(name);
    const inner = items ?? property;
    const own = `${path}${name}${items ? '[]' : ''}`;
    const row = [`\`${own}${isOptional ? '?' : ''}\``, typeOf(inner), description.replaceAll('|', '\\|')];
    if (seen.has(inner)) return [row];
    if (items) seen.add(inner);
    return [row, ...rowsOf(inner, `${own}.`, seen)];
  });
}

function typeOf(schema: TSchema): string {
  const { type, enum: values, const: value, anyOf } = schema as Described;
  if (anyOf) return anyOf.map(typeOf).join(' or ');
  if (values) return values.map((one) => `\`${one}\``).join(' or ');
  return value === undefined ? String(type) : `\`${value}\``;
}

if (import.meta.main) writeFileSync(new URL('../../docs/grade-card.md', import.meta.url), cardPage());
