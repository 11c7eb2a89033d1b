import { isDeepStrictEqual } from 'node:util';
import { toUtc } from '../../foundation/time.ts';
import { type Difference, differencesOf } from '../compare/compare.ts';
import { clip } from '../compare/rows.ts';
import {
  type ApiList,
  fieldNameOf,
  type Item,
  lists,
  type OtherChange,
  type StoreState,
} from '../compare/state.ts';
import { resourceKey, type StoreChange, type StoreResult, storeResultOf } from '../compare/store-result.ts';
import type { Goal, WantedRows } from './goal-file.ts';

/** The final state of a run, judged by a goal. */
export interface GoalOutcome {
  /** What is missing, what is too much, and what else was changed. Empty if the goal is reached. */
  differences: Difference[];
  /** The rows of the final state that match each predicate. */
  found: Item[][];
}

/** Compares the final state of a run with a goal. `initial`: the state before the run. `base`: a run that reached the goal. */
export function judgeByGoal(
  { wanted }: Goal,
  initial: StoreResult,
  run: StoreResult,
  base: StoreResult,
): GoalOutcome {
  const end = endOf(run);
  const seen = withoutOthers(end, run.others);
  const judged = wanted.map((one) => judgeWanted(one, { initial: initial.state, seen, run, base }));
  return {
    differences: [
      ...judged.flatMap(({ differences }) => differences),
      ...uncovered(wanted, { initial, end, seen, run }),
    ],
    found: judged.map(({ found }) => found),
  };
}

interface Ends {
  initial: StoreState;
  /** The final state without the changes of another writer. */
  seen: StoreState;
  run: StoreResult;
}

function judgeWanted(
  wanted: WantedRows,
  { initial, seen, run, base }: Ends & { base: StoreResult },
): Omit<GoalOutcome, 'found'> & { found: Item[] } {
  const { list, where, fields, count } = wanted;
  const found = rowsOf(seen, list).filter((row) => matches(list, row, where));
  const before = rowsOf(initial, list).filter((row) => matches(list, row, where));
  const known = byKey(initial, list);
  const isNew = (row: Item) => !known.has(keyOf(list, row));
  const what = titleOf(wanted);
  const differences: Difference[] = [];
  const add = (kind: Difference['kind'], what: string, changes: StoreChange[]) =>
    differences.push({ kind, what, changes, missing: kind === 'undone' ? changesTo(list, base) : [] });
  if (found.length !== count) {
    const added = found.filter(isNew);
    add(
      countKind(count, found.length, before.length, added.length),
      `${what}: ${found.length} found, ${count} wanted`,
      added.flatMap((row) => historyOf(run, list, row)?.created ?? []),
    );
  }
  const wrongIn = (row: Item) =>
    Object.keys(fields).filter((name) => !isRight(wanted, row, name, run.others));
  // If there are too many rows, the rows with the fewest wrong values count as the wanted ones.
  const best = found.toSorted((a, b) => wrongIn(a).length - wrongIn(b).length).slice(0, count);
  for (const [name, value] of Object.entries(fields)) {
    const wrong = best.filter((row) => wrongIn(row).includes(name));
    const [first] = wrong;
    if (!first) continue;
    const wasRight = wrong.some((row) => isEqual(list, name, known.get(keyOf(list, row))?.[name], value));
    const many = wrong.length > 1 ? ` in ${wrong.length} of them` : '';
    add(
      wasRight ? 'other' : 'undone',
      `${what}: ${name} is ${shown(first[name])}${many}, wanted ${shown(value)}`,
      wrong.flatMap((row) => writesTo(run, list, row, name).map(({ change }) => change)),
    );
  }
  return { differences, found: best };
}

/** For too many rows: `undone` if the program added none and removed too few, `other` if none was wanted, else `twice`. */
function countKind(wanted: number, is: number, was: number, added: number): Difference['kind'] {
  if (is < wanted) return was >= wanted ? 'other' : 'undone';
  if (added === 0) return 'undone';
  return wanted === 0 ? 'other' : 'twice';
}

/** Whether a property has the wanted value. If another writer has changed it, any value is right except the one from before that change. */
const isRight = ({ list, fields }: WantedRows, row: Item, name: string, others: readonly OtherChange[]) =>
  isEqual(list, name, row[name], fields[name]) ||
  others.some(
    (other) =>
      placeOf(other).list === list &&
      placeOf(other).property === name &&
      other.id === keyOf(list, row) &&
      String(row[name]) !== String(other.before),
  );

/** Changes that no predicate covers. Consequences of other changes, such as the stock after an order, do not count. */
function uncovered(
  wanted: readonly WantedRows[],
  { initial, end, seen, run }: Omit<Ends, 'initial'> & { initial: StoreResult; end: StoreState },
): Difference[] {
  const expected = lists.map((list): [string, Item[]] => {
    const [was, is, plain] = [byKey(initial.state, list), byKey(end, list), byKey(seen, list)];
    const about = wanted.filter((one) => one.list === list);
    const mayGo = about.filter(
      ({ where, count }) => count < [...was.values()].filter((row) => matches(list, row, where)).length,
    );
    const remaining = [...was].flatMap(([key, row]) => {
      const now = is.get(key);
      if (!now) return mayGo.some(({ where }) => matches(list, row, where)) ? [] : [row];
      const covering = about.filter(({ where }) =>
        [row, plain.get(key)].some((one) => one && matches(list, one, where)),
      );
      const covered = covering.flatMap(({ where, fields }) => Object.keys({ ...where, ...fields }));
      const free = Object.keys({ ...row, ...now }).filter(
        (name) => covered.includes(name) || isCaused(run, list, row, name),
      );
      return [{ ...without(row, free), ...only(now, free) }];
    });
    const added = [...is].flatMap(([key, row]) => {
      const isWanted = about.some(({ where }) => matches(list, plain.get(key) as Item, where));
      // The inventory entry of a new pet is a part of the pet.
      return !was.has(key) && (isWanted || !('id' in list.properties)) ? [row] : [];
    });
    return [list.name, [...remaining, ...added]];
  });
  const expectedResult = {
    ...storeResultOf(Object.fromEntries(expected) as unknown as StoreState, initial.state),
    histories: run.histories,
  };
  return differencesOf(expectedResult, { ...run, state: end }, { initial }).map(
    ({ what, changes, missing }) => ({
      ...{ kind: 'other', what, changes: [...changes, ...missing], missing: [] },
    }),
  );
}

const only = (row: Item, names: string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)));
const without = (row: Item, names: string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

/** The first property of a row names it: `id`, or the pet of an inventory entry. */
const keyNameOf = ({ properties }: ApiList) => Object.keys(properties)[0] as string;
const keyOf = (list: ApiList, row: Item) => row[keyNameOf(list)];

const rowsOf = (state: StoreState, { name }: ApiList) => (state[name] ?? []) as Item[];
const byKey = (state: StoreState, list: ApiList) =>
  new Map(rowsOf(state, list).map((row) => [keyOf(list, row), row]));

const matches = (list: ApiList, row: Item, values: Item) =>
  Object.entries(values).every(([name, value]) => isEqual(list, name, row[name], value));

/** Null equals an absent value. Times are equal if they are the same instant. */
function isEqual({ properties }: ApiList, name: string, is: unknown, wanted: unknown): boolean {
  if (wanted === null) return is === undefined;
  const { format } = properties[name] as { format?: string };
  if (format === 'date-time' && typeof is === 'string') return toUtc(is) === toUtc(wanted as string);
  return isDeepStrictEqual(is, wanted);
}

/** The kind of resource whose events record the changes of a list. */
const kindOf = (list: ApiList) => ('id' in list.properties ? list.kind : keyNameOf(list).replace(/Id$/, ''));
const historyOf = ({ histories }: StoreResult, list: ApiList, row: Item) =>
  histories.get(resourceKey(kindOf(list), keyOf(list, row)));

const writesTo = (run: StoreResult, list: ApiList, row: Item, property: string) =>
  (historyOf(run, list, row)?.writes ?? []).filter(
    ({ field }) => field === fieldNameOf(kindOf(list), property),
  );

/** Whether a property changed only as a consequence of other changes. */
function isCaused(run: StoreResult, list: ApiList, row: Item, property: string): boolean {
  const writes = writesTo(run, list, row, property);
  return writes.length > 0 && writes.every(({ isOwn }) => !isOwn);
}

/** All changes to rows of a list. */
const changesTo = (list: ApiList, { histories }: StoreResult): StoreChange[] =>
  [...histories].flatMap(([key, { created, writes }]) =>
    key.startsWith(resourceKey(kindOf(list), ''))
      ? [...(created ? [created] : []), ...writes.map(({ change }) => change)]
      : [],
  );

/** The final content of a workspace, without resources that were created and deleted again. */
function endOf({ state, histories }: StoreResult): StoreState {
  const entries = lists.map((list) => [
    list.name,
    rowsOf(state, list).filter((row) => histories.get(resourceKey(list.kind, row.id))?.deleted === undefined),
  ]);
  return Object.fromEntries(entries);
}

/** The list and the property that another writer changed. */
function placeOf({ kind, property }: OtherChange): { list: ApiList | undefined; property: string } {
  if (property !== 'stock') return { list: lists.find((list) => list.kind === kind), property };
  return { list: lists.find(({ name }) => name === 'inventory'), property: 'quantity' };
}

/** Undoes the changes of another writer, as far as they are still in effect. */
function withoutOthers(state: StoreState, others: readonly OtherChange[]): StoreState {
  const entries = lists.map((list) => [
    list.name,
    rowsOf(state, list).map((row) =>
      others
        .filter((other) => placeOf(other).list === list && other.id === keyOf(list, row))
        .toReversed()
        .reduce((undone, other) => {
          const { property } = placeOf(other);
          if (String(undone[property]) !== other.after) return undone;
          const { [property]: value, ...rest } = undone;
          if (other.before === undefined) return rest;
          return { ...rest, [property]: typeof value === 'number' ? Number(other.before) : other.before };
        }, row),
    ),
  ]);
  return Object.fromEntries(entries);
}

/** `orders where petId is 13 and quantity is 2` */
function titleOf({ list, where }: WantedRows): string {
  const conditions = Object.entries(where).map(([name, value]) => `${name} is ${shown(value)}`);
  return conditions.length > 0 ? `${list.name} where ${conditions.join(' and ')}` : list.name;
}

const shown = (value: unknown) =>
  clip(value === null || value === undefined ? 'absent' : JSON.stringify(value));
