import type { Category } from '../../categories/schema.ts';
import type { InventoryItem } from '../../inventory/schema.ts';
import type { Order } from '../../orders/schema.ts';
import type { Pet } from '../../pets/schema.ts';
import type { Webhook } from '../../webhooks/schema.ts';

/** All that the API shows of a workspace, but for its history. */
export interface StoreState {
  categories: Category[];
  pets: Pet[];
  orders: Order[];
  inventory: InventoryItem[];
  webhooks: Pick<Webhook, 'id' | 'url' | 'types' | 'description' | 'enabled'>[];
}

/** A change that the other writer of `conflict` made: the property that it wrote, before and after. */
export interface OtherChange {
  kind: 'category' | 'pet' | 'order';
  id: number;
  property: 'name' | 'shipDate' | 'stock';
  before: string | undefined;
  after: string;
}
