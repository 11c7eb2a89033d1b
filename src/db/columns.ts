import { type Fragment, identifier, type Row, type SqlValue } from './sql.ts';

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The values of a row by the names of its columns: `category_id` is `categoryId`. */
export type NamedRow<Name extends string> = { readonly [Key in Name as CamelCase<Key>]: SqlValue };

/** A select list, and the function that reads its rows. */
export interface Columns<Item> {
  list: Fragment;
  read(row: Row): Item;
}

/**
 * Declares the columns of a select list, and how a row becomes an item. `toItem` must not keep the named row: one object is reused
 * for every row, so that reading by name is as fast as by position.
 */
export function columns<const Name extends string, Item>(
  names: readonly Name[],
  toItem: (row: NamedRow<Name>) => Item,
): Columns<Item> {
  class Named {
    row: Row = [];
  }
  names.forEach((name, i) => {
    const key = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    Object.defineProperty(Named.prototype, key, {
      get(this: Named) {
        return this.row[i];
      },
    });
  });
  const named = new Named();
  return {
    list: identifier(names.join(', ')),
    read(row) {
      named.row = row;
      return toItem(named as unknown as NamedRow<Name>);
    },
  };
}
