// The search index of the reference: sections of guides, operations and schemas. Guides come first, since they explain.

import MiniSearch from 'minisearch';
import { slugOf } from '../../description/guide-names.ts';
import type { Part } from '../../description/part.ts';

/** Words that readers search for, and the words that the texts use instead. */
const topics = new Map([
  ['403', 'ban'],
  ['pagination', 'page'],
  ['paginate', 'page'],
  ['paging', 'page'],
  ['quota', 'limit'],
  ['throttling', 'limit'],
]);

/** The names of this guide's sections use the words of other guides. It weighs less, except for a query that is such a name. */
const rehearsing = 'Rehearse failures';

/** The weight of entries that readers need less often. */
const fewer = 0.15;

const fields = ['title', 'names', 'within', 'text', 'code'];

interface Entry {
  kind: 'Guide' | 'Operation' | 'Schema';
  title: string;
  /** Its place in the reference, and the page whose sections rank together. */
  place: string;
  page: string;
  text: string;
  code?: string;
  /** The guide of a section, or the method and path of an operation. */
  within?: string;
  names?: string;
  /** Queries that mean it alone. Only names of schemas are case-sensitive: `pet` means more than the schema `Pet`. */
  isNamed: readonly string[];
  weight: number;
  isDeprecated?: boolean;
}

/** An entry that matches a query, and the words by which it does. */
export interface Result extends Entry {
  score: number;
  terms: string[];
}

export type Search = (query: string) => Result[];

/** Returns a function that finds entries, the best first. Entries of descriptions after the first, the store, weigh less. */
export function searchIndex(descriptions: readonly Part[]): Search {
  const all = [guideEntries, operationEntries, schemaEntries].flatMap((entriesOf) =>
    descriptions.flatMap((description, i) =>
      entriesOf(description).map((entry) => ({ ...entry, weight: entry.weight * (i === 0 ? 1 : fewer) })),
    ),
  );
  // The descriptions share schemas.
  const entries = [...new Map(all.map((entry) => [entry.place, entry])).values()];
  const index = new MiniSearch<Entry & { id: number }>({ fields, processTerm: formsOf });
  index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  const options = {
    boost: { title: 5, names: 4, within: 2, code: 0.5 },
    boostDocument: (id: number) => entries[id]?.weight ?? 1,
    prefix: (term: string) => term.length > 1,
    fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
    processTerm: askedFor,
  };
  return (query) => {
    const all = index.search(query, { ...options, combineWith: 'AND' });
    const found = all.length > 0 ? all : index.search(query, options);
    return ordered(
      found.map(({ id, score, terms }) => ({ ...(entries[id] as Entry), score, terms })),
      query,
    );
  };
}

/**
 * An entry whose name is the query comes first. A section ranks higher if up to three other sections of its guide match, too.
 * More do not count: a guide may mention a word everywhere and explain it nowhere.
 */
function ordered(results: readonly Result[], query: string): Result[] {
  const sections = Map.groupBy(results, ({ page }) => page);
  const rank = ({ page, score }: Result) => score * (1 + Math.min(sections.get(page)?.length ?? 0, 4) / 4);
  const named = ({ isNamed }: Result) =>
    Number(isNamed.includes(query) || isNamed.includes(query.toLowerCase()));
  return results.toSorted((one, other) => named(other) - named(one) || rank(other) - rank(one));
}

/** A guide is a tag without operations. Earlier guides weigh more, since they explain what later ones mention. */
function guideEntries({ tags, paths }: Part): Entry[] {
  const used = new Set(
    Object.values<Part>(paths).flatMap((item) => Object.values<Part>(item).flatMap(({ tags }) => tags)),
  );
  return (tags as Part[])
    .filter(({ name }) => !used.has(name))
    .flatMap(({ name, description }, order) => {
      const page = `guides/${slugOf(name)}`;
      const [lead = '', ...sections] = (description as string).split(/^### /m);
      const entry = (title: string, markdown: string): Entry => ({
        ...{ kind: 'Guide', title, isNamed: [title.toLowerCase()], page, place: page, weight: 4 - order / 4 },
        text: plain(markdown.replaceAll(codeBlocks, '')),
        code: markdown.match(codeBlocks)?.join('\n') ?? '',
      });
      return [
        entry(name, lead),
        ...sections.map((section) => {
          const [, heading = '', rest = ''] = /^(.*)\n([\s\S]*)$/.exec(section) ?? [];
          const found = entry(heading, rest);
          const weight = found.weight * (name === rehearsing ? fewer : 1);
          return { ...found, within: name, place: `${page}/${slugOf(heading)}`, weight };
        }),
      ];
    });
}

const codeBlocks = /^```[\s\S]*?^```$/gm;

/** Deprecated operations and operations on one item of a collection weigh less. */
function operationEntries({ servers, paths, components }: Part): Entry[] {
  // Paths of the store are known without their prefix.
  const [start = ''] = /\/lab$/.exec(servers[0].url) ?? [];
  const named = (parameter: Part) => components.parameters[parameter.$ref?.split('/').at(-1)] ?? parameter;
  return Object.entries<Part>(paths).flatMap(([path, item]) =>
    Object.entries<Part>(item).map(([method, operation]): Entry => {
      const { summary: title, operationId, description, parameters, deprecated: isDeprecated } = operation;
      const within = `${method.toUpperCase()} ${start}${path}`;
      const texts = parameters
        .map(named)
        .map((parameter: Part) => `${parameter.name}: ${parameter.description}`);
      return {
        ...{ kind: 'Operation', title, within, isDeprecated },
        names: `${operationId} ${start}${path}`,
        isNamed: [title, operationId, within].map((name) => name.toLowerCase()),
        text: plain([description, ...texts].join(' ')),
        ...at(`operations/${operationId}`),
        weight: (isDeprecated ? 0.8 : 1) * (path.includes('{') ? 0.8 : 1),
      };
    }),
  );
}

const schemaEntries = ({ components }: Part): Entry[] =>
  Object.entries<Part>(components.schemas).map(([name, { description = '', properties = {} }]) => ({
    ...{ kind: 'Schema', title: name, isNamed: [name], weight: 0.5 },
    text: plain([description, ...Object.keys(properties)].join(' ')),
    ...at(`schemas/${name}`),
  }));

const at = (place: string) => ({ page: place, place });

/** Markdown as text in one line. */
const plain = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\|[\s|:-]*\|$/gm, '')
    .replaceAll(/^\s*(?:-|\d+\.)\s/gm, '')
    .replaceAll(/[`*]/g, '')
    .replaceAll('|', ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** A name such as `createPet` is found as a whole and by its parts. */
const formsOf = (term: string): string[] | null =>
  isFiller(term) ? null : [...new Set([term, ...term.split(/(?<=[a-z])(?=[A-Z])/)].map(stemOf))];

/** The terms that a word of a query matches. */
function askedFor(term: string): string | string[] | null {
  if (isFiller(term)) return null;
  const word = stemOf(term);
  const topic = topics.get(word);
  return topic ? [word, topic] : word;
}

const isFiller = (term: string) => /^(an?|the|of)$/i.test(term);

/** Removes the ending of a plural, so that singular and plural match. */
function stemOf(term: string): string {
  const word = term.toLowerCase();
  if (word.length < 4) return word;
  return word.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');
}
