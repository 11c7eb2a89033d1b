import { counted as countedAs, firstOf } from '../../foundation/words.ts';
import { contentOf, type Matched, matchRows, type Pair, type Varying } from './match.ts';
import {
  absent,
  type ComparedKind,
  clip,
  comparedKinds,
  type Field,
  kept,
  noContents,
  plurals,
  rowsOf,
  type StoreRow,
} from './rows.ts';
import {
  type ResourceHistory,
  resourceKey,
  type StoreChange,
  type StoreResult,
  type Write,
} from './store-result.ts';

/** A difference from the base, which is a run without faults: a change was made more often, less often, or differently. */
export interface Difference {
  kind: 'twice' | 'undone' | 'other';
  /** One sentence. */
  what: string;
  /** The changes of the run behind it. */
  changes: readonly StoreChange[];
  /** The changes of the base that the run lacks. */
  missing: readonly StoreChange[];
}

/** The rows of a kind that the program added, or those from before the run. */
type Group = `${'added' | 'initial'} ${ComparedKind}`;

/** What differs from run to run without a fault. */
export interface Variation {
  /** Fields of rows of the base whose values differ. */
  fields: Readonly<Record<ComparedKind, Varying>>;
  /** Fields of rows of the base that runs do not write equally often. */
  writes: Readonly<Record<ComparedKind, Varying>>;
  /** Groups whose rows vary. */
  groups: ReadonlySet<Group>;
}

const noVariation: Variation = { fields: {}, writes: {}, groups: new Set() };

interface Options {
  /** The state before both runs. Its rows keep their ids in both. */
  initial?: StoreResult;
  /** What varies between runs without faults, so it is not compared. */
  variation?: Variation;
}

/** Compares the final state and the history of a run with the base. Returns one difference for each cause. */
export function differencesOf(base: StoreResult, run: StoreResult, options: Options = {}): Difference[] {
  const { groups, writes } = options.variation ?? noVariation;
  const found = matchAll(base, run, options).map(({ kind, matched, groupOf }) => {
    const isCounted = (row: StoreRow) => !groups.has(groupOf(row));
    const [missing, extra] = [matched.missing.filter(isCounted), matched.extra.filter(isCounted)];
    const runs = { base, run, isInitial: (row: StoreRow) => groupOf(row) === `initial ${kind}` };
    const changes = matched.pairs.flatMap((pair) => changeOf(pair, runs, writes[kind]?.get(pair.base.id)));
    return { counts: countDifferences(kind, { ...matched, missing, extra }, runs), changes };
  });
  const all = found.flatMap(({ counts, changes }) => [...counts, ...changes]);
  // A consequence of another difference is not a cause of its own.
  const causes = all.filter(({ isConsequence }) => !isConsequence);
  return bounded(causes.length > 0 ? causes : all);
}

type Found = Difference & { isConsequence?: boolean };

/** Two runs. `isInitial` says whether a row existed before both. */
interface ComparedRuns {
  base: StoreResult;
  run: StoreResult;
  isInitial(row: StoreRow): boolean;
}

/** Whether two ids are those of one thing that is new in both runs, with an id of its own in each. `text`: and it contains its title. */
export function sameThings(base: StoreResult, run: StoreResult, options: Options) {
  const pairs = matchAll(base, run, options).flatMap(({ matched }) => matched.pairs);
  const titles = new Map(pairs.map(({ base, run }) => [`${base.id} ${run.id}`, base.title]));
  return (was: string, is: string, text?: string): boolean => {
    const title = was === is ? undefined : titles.get(`${was} ${is}`);
    return title !== undefined && (text === undefined || text.includes(title));
  };
}

/** What differs between runs without a fault: the base, and others. */
export function variationOf(base: StoreResult, others: readonly StoreResult[], initial?: StoreResult) {
  return others.reduce((variation, other) => {
    const found = matchAll(base, other, { ...(initial && { initial }), variation, areAlike: true });
    const fields = { ...variation.fields };
    const writes = { ...variation.writes };
    for (const { kind, matched } of found) {
      const [varying, uneven] = [new Map(fields[kind]), new Map(writes[kind])];
      const add = (map: typeof varying, id: number, names: string[]) =>
        names.length > 0 && map.set(id, new Set([...(map.get(id) ?? []), ...names]));
      for (const pair of matched.pairs) {
        const { id } = pair.base;
        const compared = [...comparedWrites(pair, { base, run: other })];
        add(varying, id, pair.differing);
        add(varying, id, compared.filter(([, { more, less }]) => more.length + less.length > 0).map(nameOf));
        add(uneven, id, compared.filter(([, { more, less }]) => more.length !== less.length).map(nameOf));
      }
      fields[kind] = varying;
      writes[kind] = uneven;
    }
    const groups = found.flatMap(({ matched: { missing, extra }, groupOf }) =>
      [...missing, ...extra].map(groupOf),
    );
    return { fields, writes, groups: new Set([...variation.groups, ...groups]) };
  }, noVariation);
}

const nameOf = ([name]: readonly [string, unknown]) => name;

/** What is not compared with the base, in words. */
export function variationInWords({ fields, groups }: Variation, base: StoreResult): string[] {
  const things = matchAll(base, base).flatMap(({ kind, matched }) => [
    ...(groups.has(`initial ${kind}`) ? [`which ${plurals[kind]} the program deletes`] : []),
    ...(groups.has(`added ${kind}`) ? [`which ${plurals[kind]} the program adds`] : []),
    ...matched.pairs.flatMap(({ base: { id, title } }) => {
      const names = fields[kind]?.get(id);
      return names?.size ? [`${[...names].join(', ')} of ${kind} ${clip(title)}`] : [];
    }),
  ]);
  return firstOf(things, maxShown, 'thing');
}

/** Matches the rows of all kinds. A row that refers to another is compared by the counterpart of that row. */
function matchAll(
  base: StoreResult,
  run: StoreResult,
  { initial, variation = noVariation, areAlike = false }: Options & { areAlike?: boolean } = {},
) {
  const [ofBase, ofRun] = [noContents(), noContents()];
  return comparedKinds.map((kind) => {
    const varying = variation.fields[kind] ?? new Map();
    const baseRows = rowsOf(kind, base, ofBase);
    const initialIds = new Set(initial && rowsOf(kind, initial, noContents()).map(({ id }) => id));
    const matched = matchRows(baseRows, rowsOf(kind, run, ofRun), { varying, initialIds, areAlike });
    for (const row of baseRows) ofBase[kind]?.set(row.id, contentOf(row, varying.get(row.id)));
    for (const { base, run } of matched.pairs) ofRun[kind]?.set(run.id, ofBase[kind]?.get(base.id) as string);
    for (const row of matched.extra) ofRun[kind]?.set(row.id, contentOf(row));
    const groupOf = ({ id }: StoreRow): Group => `${initialIds.has(id) ? 'initial' : 'added'} ${kind}`;
    return { kind, matched, groupOf };
  });
}

/** What there is more or less often, such as "two pets Smaug instead of one". */
function countDifferences(
  kind: ComparedKind,
  { pairs, missing, extra }: Matched,
  { base, run, isInitial }: ComparedRuns,
): Found[] {
  const isAdded = (row: StoreRow) => !isInitial(row);
  const added = [...missing, ...pairs.map((pair) => pair.base)].filter(isAdded).length;
  const surplus = extra.filter(isAdded).length - missing.filter(isAdded).length;
  const byTitle = (rows: readonly StoreRow[]) => Map.groupBy(rows, ({ title }) => title);
  const [less, more] = [byTitle(missing), byTitle(extra)];
  const paired = Map.groupBy(pairs, (pair) => (pair.differing.length > 0 ? pair.base.title : pair.run.title));
  const found = [...new Set([...less.keys(), ...more.keys()])].map((title) => {
    const [both, lost, gained] = [paired.get(title) ?? [], less.get(title) ?? [], more.get(title) ?? []];
    const [was, is] = [both.length + lost.length, both.length + gained.length];
    const isAboutInitial = [...lost, ...gained].some(isInitial);
    return {
      ...{ title, isRenamed: was === 0 && !isAboutInitial, missing: changesOf(base, lost) },
      what: countSentence({ kind, title, was, is, lost, gained, isInitial }),
      changes: gained.length > 0 ? changesOf(run, [...both.map((pair) => pair.run), ...gained]) : [],
      // A row from before the run is missing if the program deleted it, and left over if it did not.
      kind: isAboutInitial ? (is > was ? 'undone' : 'other') : countKind(was, is),
    } as const;
  });
  // If names vary from run to run, only the numbers show that something was added twice.
  const vary = pairs.some(({ varying }) => varying.size > 0);
  const renamed = vary && surplus > 0 ? found.filter(({ isRenamed }) => isRenamed) : [];
  const [first] = renamed;
  if (!first) return found;
  const what = `${counted(added + surplus, kind)} added instead of ${numberWord(added, 'none')}, such as ${clip(first.title)}`;
  const changes = renamed.flatMap((one) => one.changes);
  return [...found.filter(({ isRenamed }) => !isRenamed), { kind: 'twice', what, changes, missing: [] }];
}

interface Counts {
  kind: ComparedKind;
  title: string;
  was: number;
  is: number;
  /** The rows that only the base has, and those that only the run has. */
  lost: readonly StoreRow[];
  gained: readonly StoreRow[];
  /** Whether a row existed before the program ran. */
  isInitial(row: StoreRow): boolean;
}

function countSentence({ kind, title, was, is, lost, gained, isInitial }: Counts): string {
  const subject = (count: number) =>
    count === 1 ? `${kind} ${clip(title)}` : `${counted(count, kind)} ${clip(title)}`;
  if (was === is) return `${subject(gained.length)} ${otherPhrase(lost, gained, isInitial)}`;
  if ([...lost, ...gained].some(isInitial)) {
    const many = Math.abs(is - was);
    const rows = `${subject(many)} ${many === 1 ? 'was' : 'were'}`;
    return is > was ? `${rows} not deleted` : `${rows} deleted instead of kept`;
  }
  return `${counted(is, kind)} ${clip(title)} instead of ${numberWord(was, 'none')}`;
}

/** Says how rows differ from the same number of rows with the same title. */
function otherPhrase(
  lost: readonly StoreRow[],
  gained: readonly StoreRow[],
  isInitial: (row: StoreRow) => boolean,
): string {
  const [isOne, isOld] = [gained.length === 1, gained.some(isInitial)];
  const [is, old, anew] = isOne ? ['is', 'the old one', 'a new one'] : ['are', 'the old ones', 'new ones'];
  if (isOld !== lost.some(isInitial))
    return `${is} ${isOld ? `${old} instead of ${anew}` : `${anew} instead of ${old}`}`;
  const [was, now] = [lost[0]?.fields ?? {}, gained[0]?.fields ?? {}];
  const reference = comparedKinds.find(
    (name) => was[name]?.value !== now[name]?.value && was[name]?.text === now[name]?.text,
  );
  if (reference === undefined)
    return `${is} ${isOne ? 'a different one' : 'different ones'} with the same name`;
  return `${isOne ? 'has' : 'have'} ${otherReference(reference, now[reference])}`;
}

const otherReference = (name: string, field: Field | undefined) =>
  `a different ${name}, also named ${toText(field)}`;

/** The changes that created rows, or deleted what was there before. */
const changesOf = (result: StoreResult, rows: readonly StoreRow[]): StoreChange[] =>
  rows.flatMap((row) => {
    const { created, deleted } = historyOf(result, row) ?? {};
    return created ?? deleted ?? [];
  });

const historyOf = ({ histories }: StoreResult, { kind, id }: StoreRow): ResourceHistory | undefined =>
  histories.get(resourceKey(kind, id));

/** The writes of a field that only one of two runs made. */
interface ComparedWrites {
  base: readonly Write[];
  run: readonly Write[];
  less: readonly Write[];
  more: readonly Write[];
}

/** Compares the writes to a row by field, in any order. Leaves out fields that another writer's change affected indirectly. */
function comparedWrites(
  { base, run }: Pair,
  runs: Pick<ComparedRuns, 'base' | 'run'>,
): Map<string, ComparedWrites> {
  const byField = (result: StoreResult, row: StoreRow) =>
    Map.groupBy(
      (historyOf(result, row)?.writes ?? []).filter(({ isOwn }) => isOwn),
      ({ field }) => field,
    );
  const [ofBase, ofRun] = [byField(runs.base, base), byField(runs.run, run)];
  const names = [...new Set([...ofBase.keys(), ...ofRun.keys()])];
  return new Map(
    names
      .filter((name) => run.fields[name]?.others !== 'caused')
      .map((name) => {
        const [was, is] = [ofBase.get(name) ?? [], ofRun.get(name) ?? []];
        return [name, { base: was, run: is, less: subtract(was, is), more: subtract(is, was) }];
      }),
  );
}

/** The writes that remain after each of the others has removed one write with its value. */
function subtract(writes: readonly Write[], others: readonly Write[]): Write[] {
  const left = others.map(({ value }) => value);
  return writes.filter(({ value }) => {
    const index = left.indexOf(value);
    if (index !== -1) left.splice(index, 1);
    return index === -1;
  });
}

/** What was written to a row that is in both, or how it ended, such as "pet Rex has stock 3 instead of 2". */
function changeOf(pair: Pair, { base, run }: ComparedRuns, uneven: ReadonlySet<string> = new Set()): Found[] {
  const compared = [...comparedWrites(pair, { base, run })].filter(([name, { base, run, less, more }]) => {
    if (uneven.has(name)) return false;
    const [was, is] = [pair.base.fields[name], pair.run.fields[name]];
    // The other writer may have made the change first.
    if (is?.others && run.length < base.length && is.value === was?.value) return false;
    const isAnyValue = pair.varying.has(name) || is?.others;
    return isAnyValue ? base.length !== run.length : less.length + more.length > 0;
  });
  const differing = pair.differing.includes('deleted') ? ['deleted'] : pair.differing;
  const isCaused = (name: string) =>
    !compared.some(([written]) => written === name) && hasConsequence(base, run, pair, name);
  const own = differing.filter((name) => !isCaused(name));
  const names = own.length > 0 ? own : compared.length > 0 ? [] : differing;
  const writes = compared.filter(([name]) => !names.includes(name));
  if (names.length + writes.length === 0) return [];
  const histories = { base: historyOf(base, pair.base), run: historyOf(run, pair.run) };
  const isDeletion = differing[0] === 'deleted';
  const endOf = (history: ResourceHistory | undefined) =>
    (isDeletion ? history?.deleted : history?.created) ?? [];
  const isWritten = compared.length > 0;
  return [
    {
      kind:
        isDeletion && histories.base?.deleted
          ? 'undone'
          : worstOf(compared.map(([, { base, run }]) => countKind(base.length, run.length))),
      what: rowSentence(pair, names, writes),
      changes: isWritten
        ? compared.flatMap(([, { run }]) => run.map(({ change }) => change))
        : [endOf(histories.run), writesTo(histories.run, names)].flat(),
      missing: isWritten
        ? compared.flatMap(([, { less }]) => less.map(({ change }) => change))
        : [endOf(histories.base)].flat(),
      isConsequence: own.length === 0 && !isWritten,
    },
  ];
}

const writesTo = (history: ResourceHistory | undefined, names: readonly string[]) =>
  (history?.writes ?? []).flatMap(({ field, isOwn, change }) =>
    isOwn && names.includes(field) ? [change] : [],
  );

/** Whether a field followed from a change of another resource. */
const hasConsequence = (base: StoreResult, run: StoreResult, pair: Pair, name: string) =>
  [historyOf(base, pair.base), historyOf(run, pair.run)].some((history) =>
    history?.writes.some(({ field, isOwn }) => field === name && !isOwn),
  );

/** What never occurs without faults does not count as done twice. */
const countKind = (was: number, is: number) =>
  is < was ? 'undone' : is > was && was > 0 ? 'twice' : 'other';

const worstOf = (kinds: readonly Difference['kind'][]) =>
  (['twice', 'undone', 'other'] as const).find((kind) => kinds.includes(kind)) ?? 'other';

/** Says which fields of a row have other values, and which were written in another way. */
function rowSentence(
  pair: Pair,
  names: readonly string[],
  writes: readonly (readonly [string, ComparedWrites])[],
): string {
  const { kind, title } = pair.base;
  const values = names.filter((name) => !(name in flagVerbs)).map((name) => valuePhrase(pair, name));
  const flags = names.filter((name) => name in flagVerbs).map((name) => flagPhrase(pair, name));
  const predicates = [...(values.length > 0 ? [`has ${values.join(', ')}`] : []), ...flags];
  const written = writes.map(([name, compared]) => writePhrase(name, compared));
  return [
    `${kind} ${clip(title)}${predicates.length > 0 ? ` ${predicates.join(', ')}` : ''}`,
    ...(written.length > 0 ? [written.join(', ')] : []),
  ].join(': ');
}

/** The verbs of fields whose values are words for themselves: an order is complete, or open. */
const flagVerbs: Readonly<Record<string, string>> = { complete: 'is', enabled: 'is', deleted: 'was' };

function flagPhrase({ base, run }: Pair, name: string): string {
  const [was, is] = [base.fields[name]?.text, run.fields[name]?.text];
  // "was not deleted" is clearer than "was kept instead of deleted".
  return is === kept ? 'was not deleted' : `${flagVerbs[name]} ${is} instead of ${was}`;
}

function valuePhrase({ base, run }: Pair, name: string): string {
  const [was, is] = [toText(base.fields[name]), toText(run.fields[name])];
  if (was === is)
    return comparedKinds.includes(name)
      ? otherReference(name, run.fields[name])
      : `a different ${name} (equal in the part shown): ${is}`;
  return is === undefined ? `no ${name} instead of ${was}` : `${name} ${is} instead of ${was ?? 'none'}`;
}

function writePhrase(name: string, { base, run, less, more }: ComparedWrites): string {
  if (run.length === 0) return `${name} was never changed, instead of ${times(base.length)}`;
  if (base.length !== run.length)
    return `${name} was changed ${times(run.length)} instead of ${times(base.length)}`;
  const [is, was] = [more, less].map(([write]) => clip(write?.value ?? '') || '""');
  return `${name} was temporarily ${is} instead of ${was}`;
}

const times = (count: number) => ['never', 'once', 'twice'][count] ?? `${numberWord(count, '')} times`;

/** The value of a field for people. Undefined if it is absent. */
function toText(field: Field = absent): string | undefined {
  if (field.value === absent.value) return undefined;
  return field.isQuoted ? `"${clip(field.text)}"` : clip(field.text);
}

const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

const numberWord = (count: number, none: string) => (count === 0 ? none : (words[count] ?? String(count)));

const counted = (count: number, kind: ComparedKind) =>
  `${numberWord(count, 'no')} ${count < 2 ? kind : plurals[kind]}`;

const maxShown = 20;

/** The first differences, and how many more there are. */
function bounded(differences: readonly Difference[]): Difference[] {
  const [shown, rest] = [differences.slice(0, maxShown), differences.slice(maxShown)];
  const [what, kind] = [countedAs(rest.length, 'more difference'), worstOf(rest.map((one) => one.kind))];
  return rest.length > 0 ? [...shown, { kind, what, changes: [], missing: [] }] : shown;
}
