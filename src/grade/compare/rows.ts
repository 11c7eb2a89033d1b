import { contentKinds } from '../../db/tables.ts';
import { safeText } from '../../foundation/redact.ts';
import { type ApiList, type Item, lists, type OtherChange } from './state.ts';
import { resourceKey, type StoreResult } from './store-result.ts';

/** The lists of rows with ids, each after the lists that its rows refer to. Webhooks come last. */
const listsOfRows = lists
  .filter(({ properties }) => 'id' in properties)
  .sort((a, b) => placeOf(a.name) - placeOf(b.name));

function placeOf(name: string): number {
  const place = (contentKinds as readonly string[]).indexOf(name);
  return place === -1 ? contentKinds.length : place;
}

export const comparedKinds = listsOfRows.map(({ kind }) => kind);
export type ComparedKind = string;

export const plurals: Readonly<Record<ComparedKind, string>> = Object.fromEntries(
  listsOfRows.map(({ kind, name }) => [kind, name]),
);

/** A property of a row. */
export interface Field {
  /** The value for comparisons. For a reference: the content of the row that it refers to. */
  value: string;
  /** The value for people. */
  text: string;
  /** Whether the value is free text, which may be empty. */
  isQuoted?: true;
  /**
   * `wrote`: another writer wrote it. `caused`: another writer's change of the stock caused it. Then any value counts as equal, because the
   * program may keep the change, build on it, or decide again.
   */
  others?: 'wrote' | 'caused';
}

/** A row of the store. Rows are compared by their fields. A difference only in ids does not count. */
export interface StoreRow {
  kind: ComparedKind;
  id: number;
  /** How sentences name the row: `Rex`, `of 2 Nemo`. It is the name at the start or at its creation, because names may change. */
  title: string;
  /** Identifies a row even after a change. */
  handle: string;
  fields: Readonly<Record<string, Field>>;
}

/** By row id: the contents of rows that were already matched. Matched rows have the same content. */
type Contents = Readonly<Record<ComparedKind, Map<number, string>>>;

export const noContents = (): Contents => Object.fromEntries(comparedKinds.map((kind) => [kind, new Map()]));

/** The rows of a kind. Fields that another writer has changed are marked, so that they do not count against the client. */
export function rowsOf(kind: ComparedKind, result: StoreResult, contents: Contents): StoreRow[] {
  const rows = plainRows(kind, result, contents);
  const adjusted = adjust[kind]?.(rows, result, contents) ?? rows;
  return adjusted.map((row) => {
    const own = result.others.filter((change) => change.kind === kind && change.id === row.id);
    return own.length > 0 ? withOthers(row, own) : row;
  });
}

/** The rows of a kind, with all properties that requests may write. The first property is the title. */
function plainRows(kind: ComparedKind, result: StoreResult, contents: Contents): StoreRow[] {
  const list = listsOfRows.find((list) => list.kind === kind) as ApiList;
  const fieldsOf = fieldReader(list, result, contents);
  return itemsOf(result, list).map((item) => {
    const title = titleOf(item, list, result);
    const isDeleted = result.histories.get(resourceKey(kind, item.id))?.deleted !== undefined;
    const fields = { ...fieldsOf(item), deleted: flag(isDeleted, 'deleted', kept) };
    return { kind, id: item.id as number, title, handle: title, fields };
  });
}

const itemsOf = ({ state }: StoreResult, { name }: ApiList) => (state[name] ?? []) as Item[];

/** A resource at the start of the run, or after its creation. */
const firstStateOf = (kind: ComparedKind, item: Item, { histories }: StoreResult): Item =>
  histories.get(resourceKey(kind, item.id))?.first ?? item;

const titleOf = (item: Item, { kind, written }: ApiList, result: StoreResult) =>
  String(firstStateOf(kind, item, result)[written[0] as string]);

/**
 * Returns a function that reads all properties of an item that requests may write. A property such as `petId` becomes the field `pet`,
 * whose text is the title of that pet.
 */
function fieldReader({ properties, written }: ApiList, result: StoreResult, contents: Contents) {
  const readers = written.map((property): [name: string, read: (item: Item) => Field] => {
    const [, referred = ''] = /^(\w+)Id$/.exec(property) ?? [];
    const target = listsOfRows.find(({ kind }) => kind === referred);
    if (target) {
      const titles = new Map(itemsOf(result, target).map((item) => [item.id, titleOf(item, target, result)]));
      const read = (id: unknown) => reference(contents[referred]?.get(id as number), titles.get(id));
      return [referred, (item) => read(item[property])];
    }
    const { format, enum: values } = properties[property] as { format?: string; enum?: string[] };
    const isFreeText = property !== written[0] && !format && !values;
    const read = (value: unknown) => (isFreeText && typeof value === 'string' ? quoted(value) : text(value));
    return [property, (item) => read(item[property])];
  });
  return (item: Item): Record<string, Field> =>
    Object.fromEntries(readers.map(([name, read]) => [name, read(item)]));
}

/** Adds fields that sentences name differently than the API, and fields from another list. */
const adjust: Readonly<
  Record<ComparedKind, (rows: StoreRow[], result: StoreResult, contents: Contents) => StoreRow[]>
> = {
  pet: (rows, result, contents) => {
    const inventory = lists.find(({ name }) => name === 'inventory') as ApiList;
    const fieldsOf = fieldReader(inventory, result, contents);
    const entries = new Map(itemsOf(result, inventory).map((entry) => [entry.petId, entry]));
    return rows.map((row) => {
      const { quantity: stock = absent, ...others } = fieldsOf(entries.get(row.id) ?? {});
      return { ...row, fields: { ...row.fields, stock, ...others } };
    });
  },

  order: (rows, result) =>
    rows.map((row, i) => {
      const order = result.state.orders[i] as StoreResult['state']['orders'][number] & Item;
      const { quantity, petId } = firstStateOf('order', order, result);
      const { complete } = order;
      const { pet = absent } = row.fields;
      // The pet may have been deleted.
      const petName = result.histories.get(resourceKey('pet', petId))?.first.name ?? pet.text;
      return {
        ...row,
        title: `of ${quantity} ${petId ? petName : 'without a pet'}`,
        handle: pet.value,
        fields: { ...row.fields, complete: flag(complete, 'complete', 'open') },
      };
    }),

  webhook: (rows, { state: { webhooks } }) =>
    rows.map((row, i) => {
      const { url, types, enabled } = webhooks[i] as (typeof webhooks)[number];
      const fields = {
        ...row.fields,
        types: text(types?.toSorted().join(' ')),
        enabled: flag(enabled, 'enabled', 'disabled'),
      };
      return { ...row, title: `to ${url}`, fields };
    }),
};

const maxShown = 60;

/** A text of the store for people: without secrets, escaped, and cut if it is long. This is slow, so use it only for sentences. */
export const clip = (text: string) => safeText(text, maxShown);

/** The field of a property without a value. */
export const absent: Field = { value: 'absent', text: 'none' };

/** The word for a row that was not deleted. */
export const kept = 'kept';

/** A present value, marked so that no text equals `absent`. */
const present = (value: unknown) => `=${value}`;

function text(value: unknown): Field {
  if (value === undefined) return absent;
  const shown = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return { value: present(shown), text: shown };
}

const flag = (value: unknown, ifTrue: string, ifFalse: string): Field => ({
  value: String(value),
  text: value ? ifTrue : ifFalse,
});

const quoted = (value: string): Field => ({ value: present(value), text: value, isQuoted: true });

const reference = (content: string | undefined, name: string | undefined): Field =>
  content === undefined ? absent : { value: content, text: name ?? '(deleted)' };

/** Marks the fields of a row that another writer has changed. */
function withOthers(row: StoreRow, changes: readonly OtherChange[]): StoreRow {
  // A new stock may change the status.
  const isCaused = changes.some(({ property }) => property === 'stock');
  const fields = Object.entries(row.fields).map(([name, field]): [string, Field] => {
    if (name === 'status' && isCaused) return [name, { ...field, others: 'caused' }];
    return [name, changes.some(({ property }) => property === name) ? { ...field, others: 'wrote' } : field];
  });
  return { ...row, fields: Object.fromEntries(fields) };
}
