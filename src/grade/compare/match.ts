import type { StoreRow } from './rows.ts';

/** By row id: the fields whose values differ from run to run. */
export type Varying = ReadonlyMap<number, ReadonlySet<string>>;

/** Further facts about the rows. */
interface Known {
  varying: Varying;
  /** The ids of rows that existed before both runs. Such rows match by id. */
  initialIds: ReadonlySet<number>;
  /** Whether both runs had no fault. Then the unmatched rows of both sides match each other. */
  areAlike: boolean;
}

/** Rows of two states that represent the same resource. */
export interface Pair {
  base: StoreRow;
  run: StoreRow;
  /** The fields in which they differ. */
  differing: string[];
  /** The fields that are not compared. */
  varying: ReadonlySet<string>;
}

export interface Matched {
  pairs: Pair[];
  /** Rows without a counterpart: of the base, and of the run. */
  missing: StoreRow[];
  extra: StoreRow[];
}

/** The maximum number of rows among which the most similar one is searched. */
const maxCandidates = 20;

/** Pairs the rows of the base and of a run, in linear time: first equal rows, then rows with the same name or id. */
export function matchRows(base: readonly StoreRow[], run: readonly StoreRow[], known: Known): Matched {
  const matching = new Matching(base, run, known);
  const isInitial = ({ id }: StoreRow) => known.initialIds.has(id);
  matching.pairEqual();
  matching.pairBy((row) => `${row.id} ${isInitial(row) ? '' : row.handle}`);
  matching.pairBy(({ handle }) => handle);
  if (known.areAlike) matching.pairBy((row) => (isInitial(row) ? `${row.id}` : 'added'));
  else matching.pairById();
  return { pairs: matching.pairs, missing: [...matching.missing], extra: [...matching.extra] };
}

/** All fields of a row except `but`, as text. Equal rows have equal texts. */
export const contentOf = ({ kind, fields }: StoreRow, but?: ReadonlySet<string>): string =>
  JSON.stringify([
    kind,
    ...Object.entries(fields).flatMap(([name, { value }]) => (but?.has(name) ? [] : [name, value])),
  ]);

class Matching {
  readonly pairs: Pair[] = [];
  readonly missing: Set<StoreRow>;
  readonly extra: Set<StoreRow>;
  readonly #known: Known;

  constructor(base: readonly StoreRow[], run: readonly StoreRow[], known: Known) {
    this.missing = new Set(base);
    this.extra = new Set(run);
    this.#known = known;
  }

  /** Pairs remaining rows with equal keys, in order: each with the most similar of the next candidates. */
  pairBy(keyOf: (row: StoreRow) => string, rows: Iterable<StoreRow> = this.missing): void {
    const byKey = Map.groupBy(this.extra, keyOf);
    for (const row of rows) {
      if (!this.missing.has(row)) continue;
      const candidates = byKey.get(keyOf(row)) ?? [];
      const counts = candidates
        .slice(0, maxCandidates)
        .map((other) => (this.#mayPair(row, other) ? this.#differing(row, other).length : Infinity));
      this.#pair(row, candidates.splice(counts.indexOf(Math.min(...counts)), 1)[0]);
    }
  }

  /** Pairs rows that are equal except for their varying fields. Rows with the fewest varying fields come first. */
  pairEqual(): void {
    const byVarying = Map.groupBy(this.missing, (row) => [...this.#varyingOf(row)].sort().join());
    const groups = [...byVarying.values()].sort((a, b) => this.#variability(a) - this.#variability(b));
    for (const rows of groups) {
      const but = this.#varyingOf(rows[0] as StoreRow);
      // Rows with the same id come first, because other rows refer to ids.
      this.pairBy((row) => `${row.id} ${contentOf(row, but)}`, rows);
      this.pairBy((row) => contentOf(row, but), rows);
    }
  }

  /** Pairs remaining rows by id if half of their fields are equal. A row with the name of another base row is a further one. */
  pairById(): void {
    const byId = new Map([...this.extra].map((row) => [row.id, row]));
    const handles = new Set(this.pairs.map(({ base }) => base.handle));
    for (const row of this.missing) {
      const same = byId.get(row.id);
      if (
        same &&
        !handles.has(same.handle) &&
        this.#differing(row, same).length * 2 <= Object.keys(row.fields).length
      )
        this.#pair(row, same);
    }
  }

  #pair(base: StoreRow, run: StoreRow | undefined): void {
    if (!run || !this.#mayPair(base, run)) return;
    this.extra.delete(run);
    this.missing.delete(base);
    this.pairs.push({ base, run, differing: this.#differing(base, run), varying: this.#varyingOf(base) });
  }

  /** A row with varying fields may match any new row, but no other row from before the run. */
  #mayPair = (base: StoreRow, run: StoreRow) =>
    this.extra.has(run) &&
    (base.id === run.id || !this.#known.initialIds.has(run.id) || this.#varyingOf(base).size === 0);

  #differing(base: StoreRow, run: StoreRow): string[] {
    const varying = this.#varyingOf(base);
    return Object.entries(base.fields).flatMap(([name, { value }]) => {
      const other = run.fields[name];
      const isSame = other?.value === value || other?.others || varying.has(name);
      return isSame ? [] : [name];
    });
  }

  #varyingOf = ({ id }: StoreRow) => this.#known.varying.get(id) ?? nothing;

  #variability = ([row]: readonly StoreRow[]) => (row ? this.#varyingOf(row).size : 0);
}

const nothing: ReadonlySet<string> = new Set();
