// The search index of the reference: sections of guides, operations and schemas. Guides come first, since they explain.

import MiniSearch from './minisearch.js';

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

/**
 * Builds a function that returns the entries that match a query, the best first. The first description is that of the store. The entries of
 * the others weigh less.
 */
export function searchIndex(descriptions) {
  const all = [guideEntries, operationEntries, schemaEntries].flatMap((entriesOf) =>
    descriptions.flatMap((description, i) =>
      entriesOf(description).map((entry) => ({ ...entry, weight: i === 0 ? 1 : fewer })),
    ),
  );
  // The descriptions share schemas.
  const entries = [...new Map(all.map((entry) => [entry.place, entry])).values()];
  const index = new MiniSearch({ fields, processTerm: formsOf });
  index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  const options = {
    boost: { title: 5, names: 4, within: 2, code: 0.5 },
    boostDocument: (id) => weightOf(entries[id]) * entries[id].weight,
    prefix: (term) => term.length > 1,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    processTerm: askedFor,
  };
  return (query) => {
    const all = index.search(query, { ...options, combineWith: 'AND' });
    const found = all.length > 0 ? all : index.search(query, options);
    return ordered(
      found.map(({ id, score, terms }) => ({ ...entries[id], score, terms })),
      query,
    );
  };
}

/**
 * An entry whose name is the query comes first. A section ranks higher if up to three other sections of its guide match, too.
 * More do not count: a guide may mention a word everywhere and explain it nowhere.
 */
function ordered(results, query) {
  const sections = Object.groupBy(results, ({ page }) => page);
  const rank = ({ page, score }) => score * (1 + Math.min(sections[page].length, 4) / 4);
  return results.toSorted(
    (one, other) => isNamed(other, query) - isNamed(one, query) || rank(other) - rank(one),
  );
}

/** Whether the query is the name of an entry. Names of schemas are case-sensitive: `pet` means more than the schema `Pet`. */
function isNamed({ kind, title, operationId, within }, query) {
  if (kind === 'Schema') return title === query;
  const names = kind === 'Operation' ? [title, operationId, within] : [title];
  return names.some((name) => name.toLowerCase() === query.toLowerCase());
}

/**
 * The weight of an entry. Earlier guides weigh more, since they explain what later ones mention. Deprecated operations weigh less, and
 * so do operations on one item of a collection.
 */
function weightOf({ kind, order, within, isDeprecated }) {
  if (kind === 'Guide') return (4 - order / 4) * (within === rehearsing ? fewer : 1);
  if (kind === 'Schema') return 0.5;
  return (isDeprecated ? 0.8 : 1) * (within.includes('{') ? 0.8 : 1);
}

/** A guide is a tag without operations. Its description has sections. */
function guideEntries({ tags, paths }) {
  const used = new Set(
    Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags)),
  );
  return tags
    .filter(({ name }) => !used.has(name))
    .flatMap(({ name, description }, order) => {
      const page = `guides/${slugOf(name)}`;
      const [lead, ...sections] = description.split(/^### /m);
      return [
        { kind: 'Guide', title: name, ...partsOf(lead), page, place: page, order },
        ...sections.map((section) => {
          const [, heading, rest] = /^(.*)\n([\s\S]*)$/.exec(section);
          const place = `${page}/${slugOf(heading)}`;
          return { kind: 'Guide', title: heading, within: name, ...partsOf(rest), page, place, order };
        }),
      ];
    });
}

const codeBlocks = /^```[\s\S]*?^```$/gm;

const partsOf = (markdown) => ({
  text: plain(markdown.replaceAll(codeBlocks, '')),
  code: markdown.match(codeBlocks)?.join('\n'),
});

function operationEntries({ servers, paths, components }) {
  // Paths of the store are known without their prefix.
  const [start = ''] = /\/lab$/.exec(servers[0].url) ?? [];
  const named = (parameter) => components.parameters[parameter.$ref?.split('/').at(-1)] ?? parameter;
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      kind: 'Operation',
      title: operation.summary,
      operationId: operation.operationId,
      names: `${operation.operationId} ${start}${path}`,
      within: `${method.toUpperCase()} ${start}${path}`,
      text: plain(
        [
          operation.description,
          ...operation.parameters.map(named).map(({ name, description }) => `${name}: ${description}`),
        ].join(' '),
      ),
      ...at(`operations/${operation.operationId}`),
      isDeprecated: operation.deprecated,
    })),
  );
}

function schemaEntries({ components }) {
  return Object.entries(components.schemas).map(([name, { description = '', properties = {} }]) => ({
    kind: 'Schema',
    title: name,
    text: plain([description, ...Object.keys(properties)].join(' ')),
    ...at(`schemas/${name}`),
  }));
}

/** The place of an entry, and the page whose sections rank together. */
const at = (place) => ({ page: place, place });

/** The ids of guides and of their sections. */
const slugOf = (name) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** Markdown as text in one line. */
const plain = (markdown) =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\|[\s|:-]*\|$/gm, '')
    .replaceAll(/^\s*(?:-|\d+\.)\s/gm, '')
    .replaceAll(/[`*]/g, '')
    .replaceAll('|', ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** A name such as `createPet` is found as a whole and by its parts. */
const formsOf = (term) =>
  isFiller(term) ? null : [...new Set([term, ...term.split(/(?<=[a-z])(?=[A-Z])/)].map(stemOf))];

/** The terms for which a word of a query stands. */
function askedFor(term) {
  if (isFiller(term)) return null;
  const word = stemOf(term);
  return topics.has(word) ? [word, topics.get(word)] : word;
}

const isFiller = (term) => /^(an?|the|of)$/i.test(term);

/** Removes the ending of a plural, so that singular and plural match. */
function stemOf(term) {
  const word = term.toLowerCase();
  if (word.length < 4) return word;
  return word.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');
}
