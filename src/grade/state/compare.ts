import { contentOf, type Matched, matchRows, type Pair, type Varying } from './match.ts';
import { type Field, type Kind, kinds, noContents, plurals, type Row, rowsOf, short } from './rows.ts';
import type { OtherChange, StoreState } from './state.ts';

/** What differs from run to run without a fault: fields of rows of a state, and kinds of which there are not always as many. */
export interface Variation {
  fields: Readonly<Record<Kind, Varying>>;
  counts: ReadonlySet<Kind>;
}

const noVariation: Variation = {
  fields: { category: new Map(), pet: new Map(), order: new Map(), webhook: new Map() },
  counts: new Set(),
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
  const { counts } = options.variation ?? noVariation;
  const sentences = matchAll(base, run, options).flatMap(([kind, matched]) =>
    counts.has(kind) ? changes(matched) : [...numbers(kind, matched), ...changes(matched)],
  );
  return bounded(sentences, 'differences');
}

/** What differs between two runs without a fault, for further comparisons with the first of them, and in words. */
export function variationOf(
  base: StoreState,
  again: StoreState,
  initial?: StoreState,
): Variation & { inWords: string[] } {
  const found = matchAll(base, again, initial && { initial });
  const fields: Record<Kind, Varying> = { ...noVariation.fields };
  for (const [kind, { pairs }] of found)
    fields[kind] = new Map(changed(pairs).map(({ base, differing }) => [base.id, new Set(differing)]));
  const counts = found.flatMap(([kind, { missing, extra }]) => (missing.length + extra.length ? [kind] : []));
  const inWords = found.flatMap(([kind, { pairs }]) => [
    ...(counts.includes(kind) ? [`which ${plurals[kind]} there are`] : []),
    ...changed(pairs).map(
      ({ base, differing }) => `${base.kind} ${short(base.title)}: ${differing.join(', ')}`,
    ),
  ]);
  return { fields, counts: new Set(counts), inWords: bounded(inWords, 'things') };
}

/** Matches the rows of all kinds, each by what those it refers to were found to stand for. */
function matchAll(
  base: StoreState,
  run: StoreState,
  { initial, variation = noVariation, others = [] }: Options = {},
): [Kind, Matched][] {
  const [ofBase, ofRun] = [noContents(), noContents()];
  return kinds.map((kind) => {
    const varying = variation.fields[kind];
    const baseRows = rowsOf(kind, base, ofBase);
    const lasting = new Set(initial && rowsOf(kind, initial, noContents()).map(({ id }) => id));
    const matched = matchRows(baseRows, rowsOf(kind, run, ofRun, others), { varying, lasting });
    for (const row of baseRows) ofBase[kind].set(row.id, contentOf(row, varying.get(row.id)));
    for (const { base, run } of matched.pairs) ofRun[kind].set(run.id, ofBase[kind].get(base.id) as string);
    for (const row of matched.extra) ofRun[kind].set(row.id, contentOf(row));
    return [kind, matched];
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
