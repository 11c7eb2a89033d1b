import { contentOf, type Matched, matchRows, type Pair, type Varying } from './match.ts';
import { type Change, type Life, lifeKey, type Past, type Write } from './past.ts';
import { type Field, type Kind, kinds, noContents, plurals, type Row, rowsOf, short } from './rows.ts';

/** A difference of a run from the base: something was done more often, less often, or otherwise. */
export interface Difference {
  kind: 'twice' | 'undone' | 'other';
  /** One sentence. */
  what: string;
  /** The changes of the run behind it. */
  changes: readonly Change[];
  /** The changes of the base that the run lacks. */
  missing: readonly Change[];
}

/** Rows of a kind that the program adds, or that were there before. */
type Group = `${'added' | 'lasting'} ${Kind}`;

/** What differs from run to run without a fault. */
export interface Variation {
  /** Fields of rows of the base whose values differ. */
  fields: Readonly<Record<Kind, Varying>>;
  /** Fields of rows of the base that are not always written equally often. */
  writes: Readonly<Record<Kind, Varying>>;
  /** Groups of rows of which there are not always the same. */
  groups: ReadonlySet<Group>;
}

const noVariation: Variation = { fields: {}, writes: {}, groups: new Set() };

interface Options {
  /** What there was before both: a row with the same id is the same one. */
  initial?: Past;
  /** What is not compared. */
  variation?: Variation;
}

/** How what a run left, and how it came about, differs from the base; empty if it does not. One difference for one cause. */
export function differencesOf(base: Past, run: Past, options: Options = {}): Difference[] {
  const { groups, writes } = options.variation ?? noVariation;
  const found = matchAll(base, run, options).map(({ kind, matched, groupOf }) => {
    const isCounted = (row: Row) => !groups.has(groupOf(row));
    const [missing, extra] = [matched.missing.filter(isCounted), matched.extra.filter(isCounted)];
    const lives = { base, run, isLasting: (row: Row) => groupOf(row) === `lasting ${kind}` };
    const changes = matched.pairs.flatMap((pair) => changeOf(pair, lives, writes[kind]?.get(pair.base.id)));
    return { numbers: numbers(kind, { ...matched, missing, extra }, lives), changes };
  });
  const all = found.flatMap(({ numbers, changes }) => [...numbers, ...changes]);
  // What follows from another difference is no cause of its own.
  const causes = all.filter(({ isConsequence }) => !isConsequence);
  return bounded(causes.length > 0 ? causes : all);
}

type Found = Difference & { isConsequence?: boolean };

/** Two runs, and which rows were there before both. */
interface Lives {
  base: Past;
  run: Past;
  isLasting(row: Row): boolean;
}

/** What differs between runs without a fault: the base, and others. */
export function variationOf(base: Past, others: readonly Past[], initial?: Past): Variation {
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
export function inWords({ fields, groups }: Variation, base: Past): string[] {
  const things = matchAll(base, base).flatMap(({ kind, matched }) => [
    ...(groups.has(`lasting ${kind}`) ? [`which ${plurals[kind]} it removes`] : []),
    ...(groups.has(`added ${kind}`) ? [`which ${plurals[kind]} it adds`] : []),
    ...matched.pairs.flatMap(({ base: { id, title } }) => {
      const names = fields[kind]?.get(id);
      return names?.size ? [`${kind} ${short(title)}: ${[...names].join(', ')}`] : [];
    }),
  ]);
  return things.length <= maxShown
    ? things
    : [...things.slice(0, maxShown), `${things.length - maxShown} more things`];
}

/** How the rows of a kind match. */
interface MatchedKind {
  kind: Kind;
  matched: Matched;
  groupOf(row: Row): Group;
}

/** Matches the rows of all kinds. Rows that refer to others are matched by the counterparts of those. */
function matchAll(
  base: Past,
  run: Past,
  { initial, variation = noVariation, areAlike = false }: Options & { areAlike?: boolean } = {},
): MatchedKind[] {
  const [ofBase, ofRun] = [noContents(), noContents()];
  return kinds.map((kind) => {
    const varying = variation.fields[kind] ?? new Map();
    const baseRows = rowsOf(kind, base, ofBase);
    const lasting = new Set(initial && rowsOf(kind, initial, noContents()).map(({ id }) => id));
    const matched = matchRows(baseRows, rowsOf(kind, run, ofRun), { varying, lasting, areAlike });
    for (const row of baseRows) ofBase[kind]?.set(row.id, contentOf(row, varying.get(row.id)));
    for (const { base, run } of matched.pairs) ofRun[kind]?.set(run.id, ofBase[kind]?.get(base.id) as string);
    for (const row of matched.extra) ofRun[kind]?.set(row.id, contentOf(row));
    return { kind, matched, groupOf: ({ id }) => `${lasting.has(id) ? 'lasting' : 'added'} ${kind}` };
  });
}

/** What there is more or less often, such as "two pets Smaug instead of one". */
function numbers(kind: Kind, { pairs, missing, extra }: Matched, { base, run, isLasting }: Lives): Found[] {
  const isAdded = (row: Row) => !isLasting(row);
  const added = [...missing, ...pairs.map((pair) => pair.base)].filter(isAdded).length;
  const surplus = extra.filter(isAdded).length - missing.filter(isAdded).length;
  const byTitle = (rows: readonly Row[]) => Map.groupBy(rows, ({ title }) => title);
  const [less, more] = [byTitle(missing), byTitle(extra)];
  const paired = Map.groupBy(pairs, (pair) => (pair.differing.length > 0 ? pair.base.title : pair.run.title));
  const found = [...new Set([...less.keys(), ...more.keys()])].map((title) => {
    const [both, lost, gained] = [paired.get(title) ?? [], less.get(title) ?? [], more.get(title) ?? []];
    const [was, is] = [both.length + lost.length, both.length + gained.length];
    const isAboutLasting = [...lost, ...gained].some(isLasting);
    return {
      ...{ title, was, is, gained, isAboutLasting, missing: changesOf(base, lost) },
      changes: gained.length > 0 ? changesOf(run, [...both.map((pair) => pair.run), ...gained]) : [],
      // What was there before is missing if the program deleted it, and left over if it did not.
      kind: isAboutLasting ? (is > was ? 'undone' : 'other') : countKind(was, is),
    } as const;
  });
  // Names may differ from run to run. Then only the numbers tell that something was added twice.
  const isRenamed = ({ was, kind }: { was: number; kind: string }) => kind === 'twice' && was === 0;
  const vary = pairs.some(({ varying }) => varying.size > 0);
  const renamed = vary && surplus > 0 ? found.filter(isRenamed) : [];
  const [first] = renamed;
  return [
    ...found
      .filter((one) => !renamed.includes(one))
      .map(
        ({ title, was, is, isAboutLasting, kind: how, changes, missing }): Found => ({
          kind: isRenamed({ was, kind: how }) ? 'other' : how,
          what: numberSentence({ kind, title, was, is, isAboutLasting }),
          ...{ changes, missing },
        }),
      ),
    ...(first
      ? [
          {
            kind: 'twice' as const,
            what: `${counted(added + surplus, kind)} added instead of ${numberWord(added, 'none')}, such as ${short(first.title)}`,
            changes: renamed.flatMap(({ changes }) => changes),
            missing: [],
          },
        ]
      : []),
  ];
}

interface Numbers {
  kind: Kind;
  title: string;
  was: number;
  is: number;
  /** Whether it is about what was there before the program ran. */
  isAboutLasting: boolean;
}

function numberSentence({ kind, title, was, is, isAboutLasting }: Numbers): string {
  if (was === is) return `${counted(is, kind)} ${short(title)}, but not the same`;
  const many = Math.abs(is - was);
  const rows = `${counted(many, kind)} ${short(title)} ${many < 2 ? 'is' : 'are'}`;
  if (isAboutLasting) return is > was ? `${rows} still there` : `${rows} gone`;
  return `${counted(is, kind)} ${short(title)} instead of ${numberWord(was, 'none')}`;
}

/** The changes that created rows, or deleted what was there before. */
const changesOf = (past: Past, rows: readonly Row[]): Change[] =>
  rows.flatMap((row) => {
    const { created, deleted } = lifeOf(past, row) ?? {};
    return created ?? deleted ?? [];
  });

const lifeOf = ({ lives }: Past, { kind, id }: Row): Life | undefined => lives.get(lifeKey(kind, id));

/** The writes of a field that only one of two runs made. */
interface ComparedWrites {
  base: readonly Write[];
  run: readonly Write[];
  less: readonly Write[];
  more: readonly Write[];
}

/** Compares the writes to a row by field, in any order. Writes to a field that another writer's change caused are left out. */
function comparedWrites(
  { base, run }: Pair,
  pasts: Pick<Lives, 'base' | 'run'>,
): Map<string, ComparedWrites> {
  const byField = (past: Past, row: Row) =>
    Map.groupBy(
      (lifeOf(past, row)?.writes ?? []).filter(({ isOwn }) => isOwn),
      ({ field }) => field,
    );
  const [ofBase, ofRun] = [byField(pasts.base, base), byField(pasts.run, run)];
  const names = [...new Set([...ofBase.keys(), ...ofRun.keys()])];
  return new Map(
    names
      .filter((name) => run.fields[name]?.others !== 'caused')
      .map((name) => {
        const [was, is] = [ofBase.get(name) ?? [], ofRun.get(name) ?? []];
        return [name, { base: was, run: is, less: without(was, is), more: without(is, was) }];
      }),
  );
}

/** The writes whose values the others lack, as a multiset. */
function without(writes: readonly Write[], others: readonly Write[]): Write[] {
  const left = others.map(({ value }) => value);
  return writes.filter(({ value }) => {
    const index = left.indexOf(value);
    if (index !== -1) left.splice(index, 1);
    return index === -1;
  });
}

/** What was written to a row that is in both, or how it ended, such as "pet Rex: stock 3 instead of 2". */
function changeOf(pair: Pair, { base, run }: Lives, uneven: ReadonlySet<string> = new Set()): Found[] {
  const compared = [...comparedWrites(pair, { base, run })].filter(([name, { base, run, less, more }]) => {
    if (uneven.has(name)) return false;
    const [was, is] = [pair.base.fields[name], pair.run.fields[name]];
    // The other writer may have made the change first.
    if (is?.others && run.length < base.length && is.value === was?.value) return false;
    const isAnyValue = pair.varying.has(name) || is?.others;
    return isAnyValue ? base.length !== run.length : less.length + more.length > 0;
  });
  const differing = pair.differing.includes('deleted') ? ['deleted'] : pair.differing;
  const isBlameless = (name: string) =>
    !compared.some(([written]) => written === name) && hasConsequence(base, run, pair, name);
  const own = differing.filter((name) => !isBlameless(name));
  const names = own.length > 0 ? own : compared.length > 0 ? [] : differing;
  const writes = compared.filter(([name]) => !names.includes(name));
  const sentences = [
    ...names.map((name) => fieldSentence(pair, name)),
    ...writes.map(([name, { base, run, less, more }]) => writeSentence(name, { base, run, less, more })),
  ];
  if (sentences.length === 0) return [];
  const lives = { base: lifeOf(base, pair.base), run: lifeOf(run, pair.run) };
  const isDeletion = differing[0] === 'deleted';
  const endOf = (life: Life | undefined) => (isDeletion ? life?.deleted : life?.created) ?? [];
  const isWritten = compared.length > 0;
  return [
    {
      kind:
        isDeletion && lives.base?.deleted
          ? 'undone'
          : // What is never changed without faults was not done twice.
            worstOf(
              compared.map(([, { base, run }]) =>
                base.length === 0 ? 'other' : countKind(base.length, run.length),
              ),
            ),
      what: `${pair.base.kind} ${short(pair.base.title)}: ${sentences.join(', ')}`,
      changes: isWritten
        ? compared.flatMap(([, { run }]) => run.map(({ change }) => change))
        : [endOf(lives.run), writesTo(lives.run, names)].flat(),
      missing: isWritten
        ? compared.flatMap(([, { less }]) => less.map(({ change }) => change))
        : [endOf(lives.base)].flat(),
      isConsequence: own.length === 0 && !isWritten,
    },
  ];
}

const writesTo = (life: Life | undefined, names: readonly string[]) =>
  (life?.writes ?? []).flatMap(({ field, isOwn, change }) =>
    isOwn && names.includes(field) ? [change] : [],
  );

/** Whether a field followed from a change of another resource. */
const hasConsequence = (base: Past, run: Past, pair: Pair, name: string) =>
  [lifeOf(base, pair.base), lifeOf(run, pair.run)].some((life) =>
    life?.writes.some(({ field, isOwn }) => field === name && !isOwn),
  );

const countKind = (was: number, is: number) => (is > was ? 'twice' : is < was ? 'undone' : 'other');

const worstOf = (kinds: readonly Difference['kind'][]) =>
  (['twice', 'undone', 'other'] as const).find((kind) => kinds.includes(kind)) ?? 'other';

function fieldSentence({ base, run }: Pair, name: string): string {
  const [was, is] = [shown(base.fields[name]), shown(run.fields[name])];
  // That an order is complete says its own name.
  const subject = ['complete', 'enabled', 'deleted'].includes(name) ? '' : `${name} `;
  return was === is ? `another ${name} ${is}` : `${subject}${is} instead of ${was}`;
}

function writeSentence(name: string, { base, run, less, more }: ComparedWrites): string {
  if (base.length !== run.length)
    return `${name} changed ${times(run.length)} instead of ${times(base.length)}`;
  return `${name} was ${short(more[0]?.value ?? '')} instead of ${short(less[0]?.value ?? '')} for a while`;
}

const times = (count: number) => ['never', 'once', 'twice'][count] ?? `${numberWord(count, '')} times`;

function shown(field: Field | undefined): string {
  if (!field) return 'none';
  return field.isQuoted ? `"${short(field.text)}"` : short(field.text);
}

const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

const numberWord = (count: number, none: string) => (count === 0 ? none : (words[count] ?? String(count)));

const counted = (count: number, kind: Kind) =>
  `${numberWord(count, 'no')} ${count < 2 ? kind : plurals[kind]}`;

const maxShown = 20;

/** The first of many differences, and how many more there are. */
function bounded(differences: readonly Difference[]): Difference[] {
  const rest = differences.slice(maxShown);
  if (rest.length === 0) return [...differences];
  const what = `${rest.length} more differences`;
  return [
    ...differences.slice(0, maxShown),
    { kind: worstOf(rest.map(({ kind }) => kind)), what, changes: [], missing: [] },
  ];
}
