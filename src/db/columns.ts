import { type Fragment, identifier, type Row, type SqlValue } from './sql.ts';

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

/**
 * Declares a select list, its names separated by `, `, and how a row becomes an item. `toItem` must not keep the named row: one object is reused
 * for every row, so that reading by name is as fast as by position.
 */
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
