/** The types of columns and of values in statements. Both engines support exactly these. */
export type SqlValue = string | number | null;

/** A row as the values of its columns, in the order of the select list. */
export type Row = SqlValue[];

/** A piece of SQL with its values, to be put into a larger statement. */
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

/** A statement would leave a row that refers to a row that does not exist. */
export class ForeignKeyError extends Error {}

/** A piece of SQL as a tagged template. */
export function fragment(strings: TemplateStringsArray, ...values: (SqlValue | Fragment)[]): Fragment {
  return new Fragment(strings, values);
}

/** The name of a table or column as a piece of SQL, where no value is allowed. It comes from the code, never from a caller. */
export const identifier = (name: string): Fragment => new Fragment([name], []);

/** Pieces, or single values, joined by a separator such as `, ` or ` and `. There must be at least one. */
export function join(parts: readonly (SqlValue | Fragment)[], separator: string): Fragment {
  return new Fragment(['', ...Array(parts.length - 1).fill(separator), ''], parts);
}

/** The statement's text, with `placeholder(n)` standing for its n-th value (from 1), and the values. */
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
