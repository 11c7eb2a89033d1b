import type { Row } from './rows.ts';

/** Fields of rows, by the ids of these, whose values differ from run to run. */
export type Varying = ReadonlyMap<number, ReadonlySet<string>>;

/** Further facts about the rows. */
interface Known {
  varying: Varying;
  /** The ids of rows that existed before both runs. Such rows match by id. */
  lasting: ReadonlySet<number>;
  /** Whether both runs had no fault. Then the unmatched rows of both sides match each other. */
  areAlike: boolean;
}

/** Rows of two states that represent the same resource. */
export interface Pair {
  base: Row;
  run: Row;
  /** The fields in which they differ. */
  differing: string[];
  /** The fields that are not compared. */
  varying: ReadonlySet<string>;
}

export interface Matched {
  pairs: Pair[];
  /** Rows without a counterpart: of the base, and of the run. */
  missing: Row[];
  extra: Row[];
}

/** How many rows of the same name are looked at for the nearest. */
const maxCandidates = 20;

/**
 * Finds the counterpart of each row of the base among the rows of a run: first equal rows, then rows with the same name or id. The time
 * is proportional to their number.
 */
export function matchRows(base: readonly Row[], run: readonly Row[], known: Known): Matched {
  const matching = new Matching(base, run, known);
  matching.pairEqual();
  matching.pairNear();
  if (known.areAlike) matching.pairRest();
  else matching.pairById();
  return { pairs: matching.pairs, missing: [...matching.missing], extra: [...matching.extra] };
}

/** The content of a row: all its fields but some. Those of equal rows are equal. */
export const contentOf = ({ kind, fields }: Row, but?: ReadonlySet<string>): string =>
  JSON.stringify([
    kind,
    ...Object.entries(fields).flatMap(([name, { value }]) => (but?.has(name) ? [] : [name, value])),
  ]);

class Matching {
  readonly pairs: Pair[] = [];
  readonly missing: Set<Row>;
  readonly extra: Set<Row>;
  readonly #known: Known;

  constructor(base: readonly Row[], run: readonly Row[], known: Known) {
    this.missing = new Set(base);
    this.extra = new Set(run);
    this.#known = known;
  }

  /** Pairs rows that are equal except for their varying fields. Rows with the least variation come first. */
  pairEqual(): void {
    const byVarying = Map.groupBy(this.missing, (row) => [...this.#varyingOf(row)].sort().join());
    const groups = [...byVarying.values()].sort((a, b) => this.#variability(a) - this.#variability(b));
    for (const rows of groups) this.#pairEqualOf(rows, this.#varyingOf(rows[0] as Row));
  }

  /** Pairs rows of which the same fields vary. Of equal ones those with the same id, as rows refer to them. */
  #pairEqualOf(rows: readonly Row[], but: ReadonlySet<string>): void {
    const byId = this.#extraById();
    for (const row of rows) {
      const same = byId.get(row.id);
      if (same && contentOf(same, but) === contentOf(row, but)) this.#pair(row, same);
    }
    const byContent = new Map<string, Row[]>();
    for (const row of [...this.extra].reverse()) push(byContent, contentOf(row, but), row);
    for (const row of rows) {
      if (!this.missing.has(row)) continue;
      const equals = byContent.get(contentOf(row, but)) ?? [];
      let next = equals.pop();
      while (next && !this.#mayPair(row, next)) next = equals.pop();
      this.#pair(row, next);
    }
  }

  /** Pairs what is left by id if it was there before, or by name and id, then by name. */
  pairNear(): void {
    const byId = this.#extraById();
    for (const row of this.missing) {
      const same = byId.get(row.id);
      if (this.#known.lasting.has(row.id) || same?.handle === row.handle) this.#pair(row, same);
    }
    const byHandle = Map.groupBy(this.extra, ({ handle }) => handle);
    for (const row of this.missing) {
      const candidates = byHandle.get(row.handle) ?? [];
      const index = this.#nearest(row, candidates.slice(0, maxCandidates));
      this.#pair(row, candidates.splice(index, 1)[0]);
    }
  }

  /** Pairs what is left by id where at least half is equal. A row with the name of another of the base is one more of these. */
  pairById(): void {
    const byId = this.#extraById();
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

  /** Pairs what both have added, in that order, each row with the nearest of the next ones. */
  pairRest(): void {
    const rest = this.#added(this.extra);
    for (const row of this.#added(this.missing)) {
      const index = this.#nearest(row, rest.slice(0, maxCandidates));
      this.#pair(row, rest.splice(index, 1)[0]);
    }
  }

  #added = (rows: ReadonlySet<Row>) => [...rows].filter(({ id }) => !this.#known.lasting.has(id));

  #extraById = () => new Map([...this.extra].map((row) => [row.id, row]));

  #pair(base: Row, run: Row | undefined): void {
    if (!run || !this.#mayPair(base, run)) return;
    this.extra.delete(run);
    this.missing.delete(base);
    this.pairs.push({ base, run, differing: this.#differing(base, run), varying: this.#varyingOf(base) });
  }

  /** What varies may be anything, but no other row that was there before. */
  #mayPair = (base: Row, run: Row) =>
    this.extra.has(run) &&
    (base.id === run.id || !this.#known.lasting.has(run.id) || this.#varyingOf(base).size === 0);

  /** Which of some rows differs least. */
  #nearest(row: Row, candidates: readonly Row[]): number {
    const counts = candidates.map((other) =>
      this.#mayPair(row, other) ? this.#differing(row, other).length : Number.POSITIVE_INFINITY,
    );
    return counts.indexOf(Math.min(...counts));
  }

  #differing(base: Row, run: Row): string[] {
    const varying = this.#varyingOf(base);
    return Object.entries(base.fields).flatMap(([name, { value }]) => {
      const other = run.fields[name];
      const isSame = other?.value === value || other?.others || varying.has(name);
      return isSame ? [] : [name];
    });
  }

  #varyingOf = ({ id }: Row) => this.#known.varying.get(id) ?? nothing;

  #variability = ([row]: readonly Row[]) => (row ? this.#varyingOf(row).size : 0);
}

const nothing: ReadonlySet<string> = new Set();

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
