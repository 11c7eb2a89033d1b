import { dirname } from 'node:path/posix';
import { isDeepStrictEqual } from 'node:util';
import { identifier, join, type Sql } from '../../../src/db/sql.ts';
import type { Kind } from '../../../src/db/tables.ts';
import { type ErrorCode, errorCodes } from '../../../src/foundation/errors.ts';
import { toUtc } from '../../../src/foundation/time.ts';
import { writeCursor } from '../../../src/http/pagination.ts';
import { baseUrl, resolve } from '../description.ts';
import { changesBetween, type Event, type Lists, recordedLists } from '../history.ts';
import { resources } from '../resources.ts';
import { HistoryModel } from './history.ts';

type Status = 'available' | 'pending' | 'sold';

interface Row {
  id: number;
}

interface Pet extends Row {
  name: string;
  categoryId: number;
  status: Status;
}

interface Order extends Row {
  petId?: number;
  quantity: number;
  shipDate?: string;
  complete: boolean;
}

interface Webhook extends Row {
  url: string;
  enabled: boolean;
  createdAt: string;
  previousSecretValidUntil?: string;
}

interface Delivery extends Row {
  webhookId: number;
  type: string;
  state: string;
  attempts: [];
  createdAt: string;
}

/** URLs that webhooks may use; all others in requests are forbidden. */
export const goodUrls = [
  'https://example.com/hooks',
  'https://example.org:8443/?token=a%20b',
  'http://127.0.0.1:9/',
];

const rotationMs = 86_400_000;

/** A request by the description, as parsed values. */
export interface Call {
  operationId: string;
  method: string;
  path: string;
  /** The query as sent. */
  search: string;
  params: Record<string, number>;
  // biome-ignore lint/suspicious/noExplicitAny: the description has checked their types
  query: Record<string, any>;
  // biome-ignore lint/suspicious/noExplicitAny: the description has checked their types
  body: any;
  headers: Record<string, string>;
}

/** The expected response. */
export interface Expected {
  status: number;
  code?: ErrorCode;
  body?: unknown;
  location?: string;
  /** The id after which the next page begins; undefined on the last one. */
  next?: number;
  /** The header of that name. */
  lastEventId?: string;
  /** The representation of the entity tag, if it is not the body. */
  represented?: object;
  /** A property of the body, or of each item, with a random value. */
  unknown?: string;
}

class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}

const maxStock = 2_147_483_647;

/**
 * The contract again, in plain maps and without storage, HTTP or concurrency: the expected response of each operation in
 * one workspace, and its changes.
 */
export class Model {
  readonly rows = Object.fromEntries(resources.map(({ kind }) => [kind, new Map()])) as Record<
    Kind,
    Map<number, Row>
  >;
  readonly pets = this.rows.pets as Map<number, Pet>;
  readonly orders = this.rows.orders as Map<number, Order>;
  readonly stock = new Map<number, number>();
  readonly webhooks = this.rows.webhooks as Map<number, Webhook>;
  /** Nothing is sent, so all deliveries are pending pings. */
  readonly deliveries = new Map<number, Delivery>();
  readonly history = new HistoryModel();
  /** The representation of each entity tag, and the last tag of each address. */
  readonly textByTag = new Map<string, string>();
  readonly tagByPath = new Map<string, string>();
  /** Cursors from responses. */
  readonly cursors = new Map<string, { operationId: string; after: number }>();
  /** Ids of rehearsals and recordings. */
  readonly begun: string[] = [];
  readonly #lastIds: Partial<Record<Kind, number>> = {};
  /** The time of the current request. */
  #now = '';

  /** The model of a workspace from its stored rows. */
  static async of(sql: Sql, workspaceId: number): Promise<Model> {
    const model = new Model();
    for (const { kind, properties } of resources) {
      // The missed events of a webhook are an object of several columns. Here none are missed.
      const names = Object.keys(properties).filter(
        (name) => resolve(properties[name] as never).type !== 'object',
      );
      const columns = names.map((name) => identifier(columnOf(name)));
      for (const values of await sql`
        select ${join(columns, ', ')} from ${identifier(kind)} where workspace_id = ${workspaceId} order by id`) {
        const all = names.map((name, i) => [name, shownAs(resolve(properties[name] as never), values[i])]);
        model.#keep(kind, Object.fromEntries(all.filter(([, value]) => value !== null)));
      }
    }
    for (const [id, stock] of await sql`select id, stock from pets where workspace_id = ${workspaceId}`)
      model.stock.set(Number(id), Number(stock));
    return model;
  }

  /** The current lists. */
  get lists(): Lists {
    const lists: Lists = new Map();
    for (const { kind, path } of resources.filter(({ path }) =>
      recordedLists.some((list) => list.path === path),
    ))
      for (const [id, row] of this.rows[kind]) lists.set(`${path}/${id}`, { ...row });
    for (const petId of this.pets.keys()) lists.set(`/inventory/${petId}`, this.#item(petId));
    return lists;
  }

  /** The expected response of the operation. Applies its changes and records them in the history. */
  answer(call: Call, cause: Pick<Event, 'timestamp' | 'requestId'>): Expected {
    this.#now = cause.timestamp;
    const before = call.method === 'GET' ? undefined : this.lists;
    const expected = this.#answer(call);
    if (before && expected.status < 300)
      this.history.add(changesBetween(before, this.lists, call.path.startsWith('/v1/pets')), cause);
    return expected;
  }

  #answer(call: Call): Expected {
    const handle = this.#operations[call.operationId];
    try {
      const expected = handle ? handle(call) : this.#answerPlainly(call);
      return Array.isArray(expected.body) && !expected.code ? this.#readPage(call, expected) : expected;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: errorCodes[error.code][0], code: error.code };
    }
  }

  /** The response for a resource without its own rules. */
  #answerPlainly(call: Call): Expected {
    const { operationId, method, body } = call;
    const resource = resources.find(({ path }) => [call.path, dirname(call.path)].includes(`/v1${path}`));
    if (resource) {
      const { kind, path, param } = resource;
      const rows = this.rows[kind];
      switch (`${method} ${param in call.params ? 'one' : 'all'}`) {
        case 'GET all':
          return this.#page(call, rows.values());
        case 'POST all': {
          const row = { id: this.#nextId(kind), ...body };
          this.#keep(kind, row);
          return created(row, `${path}/${row.id}`);
        }
        case 'GET one':
          return this.#read(call, found(rows, call.params[param]));
        case 'PUT one': {
          const row = { id: this.#changeable(call, rows, param).id, ...body };
          rows.set(row.id, row);
          return { status: 200, body: row };
        }
        case 'PATCH one': {
          const row = patched(this.#changeable(call, rows, param), body);
          rows.set(row.id, row);
          return { status: 200, body: row };
        }
        case 'DELETE one':
          rows.delete(this.#changeable(call, rows, param).id);
          return { status: 204 };
      }
    }
    throw new Error(
      `Add ${operationId} to #operations in test/support/fuzz/model.ts: it has rules of its own.`,
    );
  }

  /** The operations with their own rules. */
  readonly #operations: Record<string, (call: Call) => Expected> = {
    listPets: (call) =>
      this.#page(call, this.pets.values(), ({ id, categoryId, status }) => {
        const { query } = call;
        return (
          (query.id === undefined || query.id.includes(id)) &&
          (query.categoryId ?? categoryId) === categoryId &&
          (query.status ?? status) === status
        );
      }),
    createPet: ({ body }) => {
      this.#assertCategory(body.categoryId);
      const pet = petOf(this.#nextId('pets'), body);
      this.#keep('pets', pet);
      this.stock.set(pet.id, pet.status === 'sold' ? 0 : 1);
      return created(pet, `/pets/${pet.id}`);
    },
    getPet: (call) => this.#read(call, found(this.pets, call.params.petId)),
    replacePet: (call) => this.#changePet(call, call.body),
    updatePet: (call) => this.#changePet(call, patched(found(this.pets, call.params.petId), call.body)),
    deletePet: (call) => {
      const pet = found(this.pets, call.params.petId);
      this.#assertMayChange(call, pet);
      if (this.#isHeld(pet.id)) throw new Refusal('conflict');
      this.pets.delete(pet.id);
      this.stock.delete(pet.id);
      return { status: 204 };
    },
    streamEvents: (call) => this.history.follow(call),
    deleteCategory: (call) => {
      const { id } = this.#changeable(call, this.rows.categories, 'categoryId');
      if ([...this.pets.values()].some(({ categoryId }) => categoryId === id)) throw new Refusal('conflict');
      return this.#answerPlainly(call);
    },
    listOrders: (call) =>
      this.#page(call, this.orders.values(), ({ petId, complete }) => {
        const { query } = call;
        return (
          (query.petId === undefined || query.petId === petId) && (query.complete ?? complete) === complete
        );
      }),
    placeOrder: ({ body }) => {
      const wanted = orderOf(0, body);
      this.#take(wanted.petId, wanted.quantity);
      const order = { ...wanted, id: this.#nextId('orders') };
      this.#keep('orders', order);
      this.#settle(order.petId);
      return created(order, `/store/orders/${order.id}`);
    },
    getOrder: (call) => this.#read(call, found(this.orders, call.params.orderId)),
    updateOrder: (call) => {
      const current = this.#changeable(call, this.orders, 'orderId');
      const changed = orderOf(current.id, patched(current, call.body));
      if (isDeepStrictEqual(changed, current)) return { status: 200, body: current };
      if (current.complete) throw new Refusal('order_complete');
      if (changed.petId !== current.petId) throw new Refusal('invalid_request');
      const more = changed.quantity - current.quantity;
      this.#take(current.petId, more);
      this.orders.set(current.id, changed);
      if (more !== 0 || changed.complete) this.#settle(current.petId);
      return { status: 200, body: changed };
    },
    cancelOrder: (call) => {
      const order = this.#changeable(call, this.orders, 'orderId');
      if (order.complete) throw new Refusal('order_complete');
      this.#take(order.petId, -order.quantity);
      this.orders.delete(order.id);
      this.#settle(order.petId);
      return { status: 204 };
    },
    listInventory: (call) =>
      this.#page(
        call,
        [...this.pets.keys()].map((id) => ({ id, ...this.#item(id) })),
        ({ status }) => (call.query.status ?? status) === status,
        ({ id, ...item }) => item,
      ),
    listEvents: (call) => this.history.list(call, this.cursors.get(call.query.cursor)?.after),
    getEvent: (call) => {
      const { eventId } = call.params;
      return this.#read(call, this.history.kept.find(({ id }) => id === eventId) ?? refuse('not_found'));
    },
    createWebhook: ({ body }) => {
      assertUrl(body.url);
      const webhook = { id: this.#nextId('webhooks'), ...body, enabled: true, createdAt: this.#now };
      this.#keep('webhooks', webhook);
      return { ...created(webhook, `/store/webhooks/${webhook.id}`), unknown: 'secret' };
    },
    updateWebhook: (call) => {
      if ('url' in call.body) assertUrl(call.body.url);
      const webhook = patched(this.#changeable(call, this.webhooks, 'webhookId'), call.body);
      this.webhooks.set(webhook.id, webhook);
      return { status: 200, body: webhook };
    },
    rotateWebhookSecret: ({ params }) => {
      const previousSecretValidUntil = new Date(Date.parse(this.#now) + rotationMs).toISOString();
      const webhook = { ...found(this.webhooks, params.webhookId), previousSecretValidUntil };
      this.webhooks.set(webhook.id, webhook);
      return { status: 200, body: webhook, unknown: 'secret' };
    },
    pingWebhook: ({ params }) => {
      const { id: webhookId } = this.#enabled(params.webhookId);
      const id = this.#nextId('deliveries');
      const ping = {
        id,
        webhookId,
        type: 'ping',
        state: 'pending',
        attempts: [] as [],
        createdAt: this.#now,
      };
      this.deliveries.set(id, ping);
      this.#lastIds.deliveries = id;
      return { status: 202, body: ping, unknown: 'messageId' };
    },
    listDeliveries: ({ params, query }) => {
      const { id } = found(this.webhooks, params.webhookId);
      const { limit = 20, state = 'pending' } = query;
      const below = this.cursors.get(query.cursor)?.after ?? Number.POSITIVE_INFINITY;
      const following = [...this.deliveries.values()]
        .filter((delivery) => delivery.webhookId === id && delivery.id < below && delivery.state === state)
        .reverse();
      const items = following.slice(0, limit);
      const next = following.length > limit ? { next: (items.at(-1) as Row).id } : {};
      return { status: 200, body: items, unknown: 'messageId', ...next };
    },
    redeliver: ({ params }) => {
      const { id } = this.#enabled(params.webhookId);
      const delivery = found(this.deliveries, params.deliveryId);
      if (delivery.webhookId !== id) throw new Refusal('not_found');
      return { status: 202, body: delivery, unknown: 'messageId' };
    },
    deleteWebhook: (call) => {
      const { id } = this.#changeable(call, this.webhooks, 'webhookId');
      this.webhooks.delete(id);
      for (const delivery of this.deliveries.values())
        if (delivery.webhookId === id) this.deliveries.delete(delivery.id);
      return { status: 204 };
    },
    getInventory: (call) => this.#read(call, this.#item(call.params.petId)),
    updateInventory: (call) => {
      const { petId } = this.#item(call.params.petId);
      this.#assertMayChange(call, this.#item(petId));
      this.stock.set(petId, call.body.quantity);
      this.#settle(petId);
      return { status: 200, body: this.#item(petId) };
    },
  };

  #enabled(id: number | undefined): Webhook {
    const webhook = found(this.webhooks, id);
    if (!webhook.enabled) throw new Refusal('conflict');
    return webhook;
  }

  #changePet(call: Call, fields: Partial<Pet>): Expected {
    const { id } = this.#changeable(call, this.pets, 'petId');
    this.#assertCategory(fields.categoryId);
    const pet = petOf(id, fields);
    this.pets.set(id, pet);
    return { status: 200, body: pet };
  }

  #item(petId: number | undefined) {
    const { id, status } = found(this.pets, petId);
    return { petId: id, quantity: this.stock.get(id) as number, status };
  }

  /** Takes units from the stock of a pet. Negative ones return. */
  #take(petId: number | undefined, units: number): void {
    if (petId === undefined) return;
    const stock = this.stock.get(petId);
    if (stock === undefined) throw new Refusal('invalid_reference');
    if (stock < units) throw new Refusal('insufficient_stock');
    if (stock - units > maxStock) throw new Refusal('conflict');
    this.stock.set(petId, stock - units);
  }

  /** Sets the status of a pet from its stock and its open orders. */
  #settle(petId: number | undefined): void {
    const pet = this.pets.get(petId as number);
    if (!pet) return;
    const isInStock = (this.stock.get(pet.id) as number) > 0;
    pet.status = isInStock ? 'available' : this.#isHeld(pet.id) ? 'pending' : 'sold';
  }

  #isHeld(id: number): boolean {
    return [...this.orders.values()].some(({ petId, complete }) => petId === id && !complete);
  }

  #assertCategory(id: number | undefined): void {
    if (!this.rows.categories.has(id as number)) throw new Refusal('invalid_reference');
  }

  #changeable<Row extends { id: number }>(call: Call, rows: Map<number, Row>, name: string): Row {
    const row = found(rows, call.params[name]);
    this.#assertMayChange(call, row);
    return row;
  }

  #assertMayChange({ headers }: Call, current: object): void {
    const ifMatch = headers['if-match'];
    const ifNoneMatch = headers['if-none-match'];
    const isOther = ifMatch !== undefined && ifMatch.trim() !== '*' && !this.#names(ifMatch, current);
    if (isOther || this.#isKnown(ifNoneMatch, current)) throw new Refusal('precondition_failed');
  }

  #read({ headers }: Call, current: object): Expected {
    return this.#isKnown(headers['if-none-match'], current)
      ? { status: 304, body: current }
      : { status: 200, body: current };
  }

  /** The tag of a page also depends on its header fields. That of a pet requested by its id depends on the pet. */
  #readPage(call: Call, page: Expected): Expected {
    const { body, next, lastEventId } = page;
    const link = next === undefined ? undefined : linkTo(call, next);
    const items = body as object[];
    const single = call.operationId === 'listPets' && call.query.id?.length === 1 ? items[0] : undefined;
    const represented = single ?? { items, link, lastEventId };
    return { ...page, represented, status: this.#read(call, represented).status };
  }

  #isKnown(ifNoneMatch: string | undefined, current: object): boolean {
    if (ifNoneMatch === undefined) return false;
    return ifNoneMatch.trim() === '*' || this.#names(ifNoneMatch.replaceAll('W/', ''), current);
  }

  #names(tags: string, current: object): boolean {
    const text = canonical(current);
    return tags.split(',').some((tag) => this.textByTag.get(tag.trim()) === text);
  }

  #page<Row extends { id: number }>(
    { query }: Call,
    rows: Iterable<Row>,
    fits: (row: Row) => boolean = () => true,
    toItem: (row: Row) => unknown = (row) => row,
  ): Expected {
    const limit = query.limit ?? query.id?.length ?? 20;
    const after = query.cursor === undefined ? 0 : this.cursors.get(query.cursor)?.after;
    const following = [...rows].filter((row) => row.id > (after as number) && fits(row));
    const items = following.slice(0, limit);
    const next = following.length > limit ? { next: (items.at(-1) as Row).id } : {};
    return { status: 200, body: items.map(toItem), ...next };
  }

  #nextId(kind: Kind): number {
    return (this.#lastIds[kind] ?? 0) + 1;
  }

  #keep(kind: Kind, row: Row): void {
    this.rows[kind].set(row.id, row);
    this.#lastIds[kind] = Math.max(this.#lastIds[kind] ?? 0, row.id);
  }
}

/** A text for each value, independent of the order of its properties. */
export const canonical = (value: object) =>
  JSON.stringify(value, (_, part) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The link to the page that starts after an id. */
function linkTo({ operationId, path, search }: Call, after: number): string {
  const query = new URLSearchParams(search);
  query.set('cursor', writeCursor(operationId, after));
  return `<${baseUrl}${path.slice('/v1'.length)}?${query}>; rel="next"`;
}

function found<Row>(rows: Map<number, Row>, id: number | undefined): Row {
  return rows.get(id as number) ?? refuse('not_found');
}

function refuse(code: ErrorCode): never {
  throw new Refusal(code);
}

function assertUrl(url: string): void {
  if (!goodUrls.includes(url)) throw new Refusal('invalid_request');
}

/** The column of a field. Times end in their unit. */
function columnOf(name: string): string {
  const time = { createdAt: 'created_at_ms', previousSecretValidUntil: 'previous_until_ms' }[name];
  return time ?? name.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`);
}

/** A stored value in the form of responses. */
function shownAs({ type, format }: ReturnType<typeof resolve>, value: unknown): unknown {
  if (value === null) return null;
  if (type === 'boolean') return value === 1;
  if (type === 'array') return JSON.parse(String(value));
  return format === 'date-time' && typeof value === 'number' ? new Date(value).toISOString() : value;
}

const created = (body: object, path: string): Expected => ({ status: 201, body, location: baseUrl + path });

const petOf = (id: number, { name, categoryId, status = 'available' }: Partial<Pet>): Pet =>
  ({ id, name, categoryId, status }) as Pet;

function orderOf(id: number, { petId, quantity = 1, shipDate, complete = false }: Partial<Order>): Order {
  const utc = shipDate === undefined ? undefined : toUtc(shipDate);
  return { id, ...(petId !== undefined && { petId }), quantity, ...(utc && { shipDate: utc }), complete };
}

/** JSON Merge Patch (RFC 7396) for objects without nested objects. */
function patched<Row extends object>(row: Row, patch: object): Row {
  const merged = Object.entries({ ...row, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(merged) as Row;
}
