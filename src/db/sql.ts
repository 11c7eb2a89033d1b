/** The types of columns and of values in statements. Both engines support exactly these. */
export type SqlValue = string | number | null;

/** A row as the values of its columns, in the order of the select list. */
export type Row = SqlValue[];

/** A piece of SQL with its values, for use in a larger statement. */
export class Fragment {
  readonly strings: readonly string[];
  readonly values: readonly (SqlValue | Fragment)[];

  constructor(strings: readonly string[], values: readonly (SqlValue | Fragment)[]) {
    this.strings = strings;
    this.values = values;
  }
}

/** Runs one statement, written as a tagged template, and returns its rows. */
export type Sql = (strings: TemplateStringsArray, ...values: (SqlValue | Fragment)[]) => Promise<Row[]>;

/** A foreign key refers to a row that does not exist. */
export class ForeignKeyError extends Error {}

/** A piece of SQL as a tagged template. */
export function fragment(strings: TemplateStringsArray, ...values: (SqlValue | Fragment)[]): Fragment {
  return new Fragment(strings, values);
}

/** The name of a table or column as a piece of SQL. It must come from the code, never from a caller. */
export const identifier = (name: string): Fragment => new Fragment([name], []);

/** At least one piece or value, joined by a separator such as `, ` or ` and `. */
export function join(parts: readonly (SqlValue | Fragment)[], separator: string): Fragment {
  return new Fragment(['', ...Array(parts.length - 1).fill(separator), ''], parts);
}

/** The text of a statement, with `placeholder(n)` in place of its n-th value (from 1), and the values. */
export function flatten(
  strings: readonly string[],
  values: readonly (SqlValue | Fragment)[],
  placeholder: (n: number) => string,
): { text: string; values: SqlValue[] } {
  const flat: SqlValue[] = [];
  const write = (strings: readonly string[], values: readonly (SqlValue | Fragment)[]): string => {
    let text = strings[0] as string;
    values.forEach((value, i) => {
      text += value instanceof Fragment ? write(value.strings, value.values) : placeholder(flat.push(value));
      text += strings[i + 1];
    });
    return text;
  };
  return { text: write(strings, values), values: flat };
}

/** The prepared forms of a template. More than the resources that share one would be a form for each request. */
const maxForms = 32;

/** Caches the prepared forms of each template. Its fragments must be the same objects each time and contain no values. */
export class PreparedByTemplate<Prepared> {
  readonly #known = new WeakMap<TemplateStringsArray, { prepared: Prepared; fragments: Fragment[] }[]>();

  /** The prepared form of a statement, and the values for it. */
  find(template: TemplateStringsArray, values: readonly (SqlValue | Fragment)[]) {
    const forms = this.#known.get(template);
    if (!forms) return undefined;
    for (const { prepared, fragments } of forms) {
      if (fragments.length === 0) return { prepared, values: values as SqlValue[] };
      const plain = plainValues(values, fragments);
      if (plain) return { prepared, values: plain };
    }
    return undefined;
  }

  keep(template: TemplateStringsArray, values: readonly (SqlValue | Fragment)[], prepared: Prepared): void {
    const fragments = values.filter((value) => value instanceof Fragment);
    if (fragments.some((fragment) => fragment.values.length > 0)) return;
    const forms = this.#known.get(template) ?? [];
    if (forms.length < maxForms) forms.push({ prepared, fragments });
    this.#known.set(template, forms);
  }
}

/** The values without the fragments. Undefined if there are others than these. */
function plainValues(values: readonly (SqlValue | Fragment)[], fragments: readonly Fragment[]) {
  const plain: SqlValue[] = [];
  let found = 0;
  for (const value of values) {
    if (!(value instanceof Fragment)) plain.push(value);
    else if (value !== fragments[found++]) return undefined;
  }
  return plain;
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The names in a select list. */
type NamesIn<List extends string> = List extends `${infer First}, ${infer Rest}`
  ? First | NamesIn<Rest>
  : List;

/** The values of a row by the names of its columns: `category_id` is `categoryId`. */
export type NamedRow<List extends string> = { readonly [Name in NamesIn<List> as CamelCase<Name>]: SqlValue };

/** A select list, and the function that reads its rows. */
export interface Columns<Item> {
  list: Fragment;
  read(row: Row): Item;
}

/** Declares a select list, its names separated by `, `. `toItem` must not keep the named row: one is reused for all rows, for speed. */
export function columns<const List extends string, Item>(
  list: List,
  toItem: (row: NamedRow<List>) => Item,
): Columns<Item> {
  class Named {
    row: Row = [];
  }
  list.split(', ').forEach((name, i) => {
    const key = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    Object.defineProperty(Named.prototype, key, {
      get(this: Named) {
        return this.row[i];
      },
    });
  });
  const named = new Named();
  return {
    list: identifier(list),
    read(row) {
      named.row = row;
      return toItem(named as unknown as NamedRow<List>);
    },
  };
}
