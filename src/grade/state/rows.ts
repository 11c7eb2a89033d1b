import { toUtc } from '../../instant.ts';
import { dayMs } from '../../limits/decision.ts';
import { printable } from '../../printable.ts';
import { withoutSecrets } from '../../redact.ts';
import type { OtherChange, StoreState } from './state.ts';

/** In this order: a row refers to rows of kinds before its own alone. */
export const kinds = ['category', 'pet', 'order', 'webhook'] as const;
export type Kind = (typeof kinds)[number];

export const plurals: Readonly<Record<Kind, string>> = {
  category: 'categories',
  pet: 'pets',
  order: 'orders',
  webhook: 'webhooks',
};

/** A property of a row. */
export interface Field {
  /** What is compared. Of a reference, what the row that it leads to holds. */
  value: string;
  /** As it is, for people. */
  text: string;
  /** Whether it is a text, which may be empty. */
  isQuoted?: true;
  /** Values that are as good, as another writer had a hand in this one. */
  orElse?: readonly string[];
}

/** One row of the store, as it is compared: by what it holds. Its id alone is no difference. */
export interface Row {
  kind: Kind;
  id: number;
  /** What people call it, as it is: `Rex`, `of 2 Nemo`. */
  title: string;
  /** What it is found again by, if it has changed. */
  handle: string;
  fields: Readonly<Record<string, Field>>;
}

/** What rows that were compared before hold, by their ids. Rows that stand for the same have the same. */
export type Contents = Readonly<Record<Kind, Map<number, string>>>;

export const noContents = (): Contents => ({
  category: new Map(),
  pet: new Map(),
  order: new Map(),
  webhook: new Map(),
});

/** The rows of a kind. `others` are the changes of another writer that are not held against the client. */
export function rowsOf(
  kind: Kind,
  state: StoreState,
  contents: Contents,
  others: readonly OtherChange[] = [],
): Row[] {
  const rows = makers[kind](state, contents);
  if (others.length === 0) return rows;
  return rows.map((row) => {
    const own = others.filter((change) => change.kind === kind && change.id === row.id);
    return own.length > 0 ? bearing(row, own) : row;
  });
}

const makers: Readonly<Record<Kind, (state: StoreState, contents: Contents) => Row[]>> = {
  category: ({ categories }) =>
    categories.map(({ id, name, description }) => ({
      ...{ kind: 'category', id, title: name, handle: name },
      fields: { name: text(name), description: quoted(description) },
    })),

  pet: ({ pets, categories, inventory }, contents) => {
    const names = new Map(categories.map(({ id, name }) => [id, name]));
    const stock = new Map(inventory.map(({ petId, quantity }) => [petId, quantity]));
    return pets.map(({ id, name, categoryId, status }) => ({
      ...{ kind: 'pet', id, title: name, handle: name },
      fields: {
        name: text(name),
        category: reference(contents.category.get(categoryId), names.get(categoryId)),
        status: text(status),
        stock: text(stock.get(id)),
      },
    }));
  },

  order: ({ orders, pets }, contents) => {
    const names = new Map(pets.map(({ id, name }) => [id, name]));
    return orders.map(({ id = 0, petId = 0, quantity, shipDate, complete }) => {
      const pet = reference(contents.pet.get(petId), names.get(petId));
      return {
        ...{ kind: 'order', id, handle: pet.value },
        title: `of ${quantity}${petId === 0 ? ' without a pet' : ` ${pet.text}`}`,
        fields: {
          ...{ pet, quantity: text(quantity), shipDate: text(shipDate) },
          complete: { value: String(complete), text: complete ? 'complete' : 'open' },
        },
      };
    });
  },

  webhook: ({ webhooks }) =>
    webhooks.map(({ id, url, types, description, enabled }) => ({
      ...{ kind: 'webhook', id, title: `to ${url}`, handle: url },
      fields: {
        url: text(url),
        types: text(types?.toSorted().join(' ')),
        description: quoted(description),
        enabled: { value: String(enabled), text: enabled ? 'enabled' : 'disabled' },
      },
    })),
};

const maxShown = 60;

/** A text of the store for people. To make it takes longer than to compare what it tells of. */
export function short(text: string): string {
  const shown = printable(withoutSecrets(text));
  return shown.length > maxShown ? `${shown.slice(0, maxShown)}…` : shown;
}

const absent: Field = { value: 'absent', text: 'none' };

/** A value that is there differs from each that is not. */
const there = (value: unknown) => `=${value}`;

const text = (value: string | number | undefined): Field =>
  value === undefined ? absent : { value: there(value), text: String(value) };

const quoted = (value: string | undefined): Field =>
  value === undefined ? absent : { value: there(value), text: value, isQuoted: true };

const reference = (content: string | undefined, name: string | undefined): Field =>
  content === undefined ? absent : { value: content, text: name ?? 'one that is gone' };

const sign = / \(another writer(?: \d+)?\)/gi;

/**
 * A row that another writer has changed. As good as what it holds is what it would hold without that: a client may keep such a
 * change, build on it, or decide again.
 */
function bearing(row: Row, others: readonly OtherChange[]): Row {
  const fields: Record<string, Field> = { ...row.fields };
  for (const property of new Set(others.map((change) => change.property))) {
    const changes = others.filter((change) => change.property === property);
    const field = fields[property];
    if (field) fields[property] = { ...field, orElse: without(field.value, changes) };
  }
  // The status follows the stock.
  const { status, stock } = fields;
  if (status && stock?.orElse?.some((value) => isNone(value) !== isNone(stock.value)))
    fields.status = { ...status, orElse: ['available', 'pending', 'sold'].map(there) };
  return { ...row, fields };
}

const isNone = (stock: string) => stock === there(0);

/** What a value may have been without these changes. */
function without(value: string, changes: readonly OtherChange[]): string[] {
  const found = new Set<string>();
  let now = value;
  for (const { before, after } of changes.toReversed()) {
    if (now !== there(after)) continue;
    now = before === undefined ? absent.value : there(before);
    found.add(now);
  }
  const plain = value.slice(1);
  const [{ property }] = changes as [OtherChange];
  if (property === 'name') found.add(there(plain.replace(sign, '')));
  for (let count = 1; count <= changes.length; count++) {
    if (property === 'stock') found.add(there(Number(plain) - count));
    const dateMs = property === 'shipDate' ? Date.parse(plain) : Number.NaN;
    if (!Number.isNaN(dateMs)) found.add(there(toUtc(new Date(dateMs - count * dayMs).toISOString())));
  }
  return [...found];
}
