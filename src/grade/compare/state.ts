import type { TObject, TSchema } from 'typebox';
import { operations } from '../../api/operations.ts';
import { Events } from '../../store/events/schema.ts';
import type { Category } from '../../store/resources/categories/schema.ts';
import type { Order } from '../../store/resources/orders/schema.ts';
import type { InventoryItem, Pet } from '../../store/resources/pets/schema.ts';
import type { Webhook } from '../../store/webhooks/schema.ts';

/** All items that the API returns of a workspace, by list. Without the history. */
export interface StoreState {
  categories: Category[];
  pets: Pet[];
  orders: Order[];
  inventory: InventoryItem[];
  webhooks: Pick<Webhook, 'id' | 'url' | 'types' | 'description' | 'enabled'>[];
  [list: string]: object[];
}

/** An item of any list. */
export type Item = Readonly<Record<string, unknown>>;

/** A list of the API. */
export interface ApiList {
  path: string;
  /** The last word of the path, such as `pets`. */
  name: string;
  /** The name of one item, such as `pet`. */
  kind: string;
  properties: Readonly<Record<string, TSchema>>;
  /** The properties that requests may write. */
  written: readonly string[];
}

/** Every list of a workspace except its history. */
export const lists: readonly ApiList[] = operations
  .filter(({ success, params }) => success.kind === 'page' && Object.keys(params).length === 0)
  .filter(({ success }) => success.schema !== Events)
  .map(({ path, success }) => {
    const { title, properties } = (success.schema as TSchema & { items: TObject & { title: string } }).items;
    const name = path.replace(/.*\//, '');
    return { path, name, kind: title.toLowerCase(), properties, written: writtenAt(path) };
  });

/** The name of a property in sentences. The inventory entry of a pet counts as a part of the pet. */
export function fieldNameOf(kind: string, property: string): string {
  return kind === 'pet' && property === 'quantity' ? 'stock' : property.replace(/Id$/, '');
}

function writtenAt(path: string): string[] {
  const bodies = operations.flatMap((operation) =>
    operation.body && operation.path.replace(/\/{\w+}$/, '') === path ? [operation.body] : [],
  );
  const writable = bodies.flatMap(({ properties }) =>
    Object.entries<TSchema & { readOnly?: true }>(properties).filter(([, { readOnly }]) => !readOnly),
  );
  return [...new Set(writable.map(([property]) => property))];
}

/** A change by the other writer of the fault `conflict`: the property that it wrote, before and after. */
export interface OtherChange {
  kind: string;
  id: number;
  property: string;
  before: string | undefined;
  after: string;
}
