import { contentOf, type Matched, matchRows, type Pair, type Varying } from './match.ts';
import { type Field, type Kind, kinds, noContents, plurals, type Row, rowsOf, short } from './rows.ts';
import type { OtherChange, StoreState } from './state.ts';

/** Rows of a kind that the program adds, or that were there before. */
type Group = `${'added' | 'lasting'} ${Kind}`;

/** What differs from run to run without a fault. */
export interface Variation {
  /** Fields of rows of the base. */
  fields: Readonly<Record<Kind, Varying>>;
  /** Groups of rows of which there are not always the same. */
  groups: ReadonlySet<Group>;
}

const noVariation: Variation = {
  fields: { category: new Map(), pet: new Map(), order: new Map(), webhook: new Map() },
  groups: new Set(),
};

interface Options {
  /** What there was before both: a row with the same id is the same one. */
  initial?: StoreState;
  /** What is not compared. */
  variation?: Variation;
  /** What another writer changed in the run, which is not held against the client. */
  others?: readonly OtherChange[];
}

/** How the state that a run left differs from that of the base, a sentence each; none if it does not. */
export function differenceOf(base: StoreState, run: StoreState, options: Options = {}): string[] {
  const { groups } = options.variation ?? noVariation;
  const sentences = matchAll(base, run, options).flatMap(({ kind, matched, groupOf }) => {
    const isCounted = (row: Row) => !groups.has(groupOf(row));
    const [missing, extra] = [matched.missing.filter(isCounted), matched.extra.filter(isCounted)];
    return [...numbers(kind, { ...matched, missing, extra }), ...changes(matched)];
  });
  return bounded(sentences, 'differences');
}

/** What differs between runs without a fault: the base, and others. */
export function variationOf(
  base: StoreState,
  others: readonly StoreState[],
  initial?: StoreState,
): Variation {
  return others.reduce((variation, other) => {
    const found = matchAll(base, other, { ...(initial && { initial }), variation, areAlike: true });
    const fields = { ...variation.fields };
    for (const { kind, matched } of found) {
      const varying = new Map(fields[kind]);
      for (const { base, differing } of changed(matched.pairs))
        varying.set(base.id, new Set([...(varying.get(base.id) ?? []), ...differing]));
      fields[kind] = varying;
    }
    const groups = found.flatMap(({ matched: { missing, extra }, groupOf }) =>
      [...missing, ...extra].map(groupOf),
    );
    return { fields, groups: new Set([...variation.groups, ...groups]) };
  }, noVariation);
}

/** What is not compared with the base, in words. */
export function inWords({ fields, groups }: Variation, base: StoreState): string[] {
  const things = matchAll(base, base).flatMap(({ kind, matched }) => [
    ...(groups.has(`lasting ${kind}`) ? [`which ${plurals[kind]} it removes`] : []),
    ...(groups.has(`added ${kind}`) ? [`which ${plurals[kind]} it adds`] : []),
    ...matched.pairs.flatMap(({ base: { id, title } }) => {
      const names = fields[kind].get(id);
      return names ? [`${kind} ${short(title)}: ${[...names].join(', ')}`] : [];
    }),
  ]);
  return bounded(things, 'things');
}

/** How the rows of a kind match. */
interface MatchedKind {
  kind: Kind;
  matched: Matched;
  groupOf(row: Row): Group;
}

/** Matches the rows of all kinds, each by what those it refers to were found to stand for. */
function matchAll(
  base: StoreState,
  run: StoreState,
  { initial, variation = noVariation, others = [], areAlike = false }: Options & { areAlike?: boolean } = {},
): MatchedKind[] {
  const [ofBase, ofRun] = [noContents(), noContents()];
  return kinds.map((kind) => {
    const varying = variation.fields[kind];
    const baseRows = rowsOf(kind, base, ofBase);
    const lasting = new Set(initial && rowsOf(kind, initial, noContents()).map(({ id }) => id));
    const matched = matchRows(baseRows, rowsOf(kind, run, ofRun, others), { varying, lasting, areAlike });
    for (const row of baseRows) ofBase[kind].set(row.id, contentOf(row, varying.get(row.id)));
    for (const { base, run } of matched.pairs) ofRun[kind].set(run.id, ofBase[kind].get(base.id) as string);
    for (const row of matched.extra) ofRun[kind].set(row.id, contentOf(row));
    return { kind, matched, groupOf: ({ id }) => `${lasting.has(id) ? 'lasting' : 'added'} ${kind}` };
  });
}

/** What there is more or less often, such as "two pets Smaug where there was one". */
function numbers(kind: Kind, { pairs, missing, extra }: Matched): string[] {
  const titles = new Set([...missing, ...extra].map(({ title }) => title));
  if (titles.size === 0) return [];
  const paired = countsOf(pairs.map(titleOf));
  const [less, more] = [countsOf(missing.map(titleIn)), countsOf(extra.map(titleIn))];
  return [...titles].flatMap((title) => {
    const both = paired.get(title) ?? 0;
    const [was, is] = [both + (less.get(title) ?? 0), both + (more.get(title) ?? 0)];
    if (was === is) return [`${counted(is, kind)} ${short(title)}, but not the same`];
    return [
      `${counted(is, kind)} ${short(title)} where there ${was < 2 ? 'was' : 'were'} ${numberWord(was, 'none')}`,
    ];
  });
}

const titleIn = ({ title }: Row) => title;

/** What both are called: as in the run, where the name varies. */
const titleOf = ({ base, run, differing }: Pair) => (differing.length > 0 ? base.title : run.title);

const countsOf = (titles: readonly string[]) =>
  new Map([...Map.groupBy(titles, (title) => title)].map(([title, same]) => [title, same.length]));

const changed = (pairs: readonly Pair[]) => pairs.filter(({ differing }) => differing.length > 0);

/** What is there, but changed, such as "pet Rex: stock 3 instead of 2". */
const changes = ({ pairs }: Matched) =>
  changed(pairs).map(({ base, run, differing }) => {
    const each = differing.map((name) => {
      const [was, is] = [shown(base.fields[name]), shown(run.fields[name])];
      // That an order is complete says its own name.
      const subject = name === 'complete' || name === 'enabled' ? '' : `${name} `;
      return was === is ? `another ${name} ${is}` : `${subject}${is} instead of ${was}`;
    });
    return `${base.kind} ${short(base.title)}: ${each.join(', ')}`;
  });

function shown(field: Field | undefined): string {
  if (!field) return 'none';
  return field.isQuoted ? `"${short(field.text)}"` : short(field.text);
}

const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

const numberWord = (count: number, none: string) => (count === 0 ? none : (words[count] ?? String(count)));

const counted = (count: number, kind: Kind) =>
  `${numberWord(count, 'no')} ${count < 2 ? kind : plurals[kind]}`;

const maxSentences = 20;

/** The first of many sentences, and how many more there are. */
const bounded = (sentences: string[], noun: string) =>
  sentences.length <= maxSentences
    ? sentences
    : [...sentences.slice(0, maxSentences), `${sentences.length - maxSentences} more ${noun}`];
