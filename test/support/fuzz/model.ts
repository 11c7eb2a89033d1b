import { dirname } from 'node:path/posix';
import { isDeepStrictEqual } from 'node:util';
import { identifier, join, type Sql } from '../../../src/db/sql.ts';
import type { RowKind } from '../../../src/db/tables.ts';
import { type ErrorCode, errorCodes } from '../../../src/foundation/errors.ts';
import { writeCursor } from '../../../src/http/pagination.ts';
import { baseUrl, resolve } from '../description.ts';
import { changesBetween, type Event, type Lists, recordedLists } from '../history.ts';
import { resources } from '../resources.ts';
import { HistoryModel } from './history.ts';

/** A stored resource with the properties that a GET shows. */
interface Row {
  id: number;
  // biome-ignore lint/suspicious/noExplicitAny: the description has checked their types
  [property: string]: any;
}

type Rows = Map<number, Row>;

/** The initial values that no schema declares, of properties that a request omits or sets to null. */
export const defaults: Partial<Record<RowKind, object>> = {
  pets: { status: 'available' },
  orders: { quantity: 1, complete: false },
  webhooks: { enabled: true },
};

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
  declare readonly message: ErrorCode;
}

const maxStock = 2_147_483_647;

/**
 * The contract again, in plain maps and without storage, HTTP or concurrency: the expected response of each operation in
 * one workspace, and its changes.
 */
export class Model {
  readonly rows = Object.fromEntries(resources.map(({ kind }) => [kind, new Map()])) as Record<RowKind, Rows>;
  readonly stock = new Map<number, number>();
  /** Nothing is sent, so all deliveries are pending pings. */
  readonly deliveries: Rows = new Map();
  readonly history = new HistoryModel();
  /** The representation of each entity tag, and the last tag of each address. */
  readonly textByTag = new Map<string, string>();
  readonly tagByPath = new Map<string, string>();
  /** Cursors from responses. */
  readonly cursors = new Map<string, { operationId: string; after: number }>();
  /** Ids of rehearsals and recordings. */
  readonly begun: string[] = [];
  readonly #lastIds: Partial<Record<RowKind, number>> = {};
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
    for (const petId of this.rows.pets.keys()) lists.set(`/inventory/${petId}`, this.#item(petId));
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
      return { status: errorCodes[error.message][0], code: error.message };
    }
  }

  /** The response for a resource without its own rules. */
  #answerPlainly(call: Call): Expected {
    const { operationId, method, body } = call;
    const resource = resources.find(({ path }) => [call.path, dirname(call.path)].includes(`/v1${path}`));
    const { kind, path, param } = resource ?? fail(operationId);
    const rows = this.rows[kind];
    switch (`${method} ${param in call.params ? 'one' : 'all'}`) {
      case 'GET all':
        return this.#page(call, rows.values());
      case 'POST all': {
        const row = rowOf(kind, this.#nextId(kind), body);
        this.#keep(kind, row);
        return { status: 201, body: row, location: `${baseUrl}${path}/${row.id}` };
      }
      case 'GET one':
        return this.#read(call, found(rows, call.params[param]));
      case 'PUT one':
      case 'PATCH one': {
        const current = this.#changeable(call, rows, param);
        // JSON Merge Patch (RFC 7396) for objects without nested objects.
        const row = rowOf(kind, current.id, { ...(method === 'PATCH' && current), ...body });
        rows.set(row.id, row);
        return { status: 200, body: row };
      }
      case 'DELETE one':
        rows.delete(this.#changeable(call, rows, param).id);
        return { status: 204 };
      default:
        return fail(operationId);
    }
  }

  /** The operations with their own rules. */
  readonly #operations: Record<string, (call: Call) => Expected> = {
    createPet: (call) => {
      this.#assertCategory(call.body);
      const answer = this.#answerPlainly(call);
      const { id, status } = answer.body as Row;
      this.stock.set(id, status === 'sold' ? 0 : 1);
      return answer;
    },
    replacePet: (call) => this.#changePet(call),
    updatePet: (call) => this.#changePet(call),
    deletePet: (call) => {
      const { id } = this.#changeable(call, this.rows.pets, 'petId');
      if (this.#isHeld(id)) refuse('conflict');
      this.stock.delete(id);
      return this.#answerPlainly(call);
    },
    streamEvents: (call) => this.history.follow(call),
    deleteCategory: (call) => {
      const { id } = this.#changeable(call, this.rows.categories, 'categoryId');
      if ([...this.rows.pets.values()].some(({ categoryId }) => categoryId === id)) refuse('conflict');
      return this.#answerPlainly(call);
    },
    placeOrder: (call) => {
      const { petId, quantity } = rowOf('orders', 0, call.body);
      this.#take(petId, quantity);
      const answer = this.#answerPlainly(call);
      this.#settle(petId);
      return answer;
    },
    updateOrder: (call) => {
      const current = this.#changeable(call, this.rows.orders, 'orderId');
      const changed = rowOf('orders', current.id, { ...current, ...call.body });
      if (isDeepStrictEqual(changed, current)) return { status: 200, body: current };
      if (current.complete) refuse('order_complete');
      if (changed.petId !== current.petId) refuse('invalid_request');
      const more = changed.quantity - current.quantity;
      this.#take(current.petId, more);
      const answer = this.#answerPlainly(call);
      if (more !== 0 || changed.complete) this.#settle(current.petId);
      return answer;
    },
    cancelOrder: (call) => {
      const { petId, quantity, complete } = this.#changeable(call, this.rows.orders, 'orderId');
      if (complete) refuse('order_complete');
      this.#take(petId, -quantity);
      const answer = this.#answerPlainly(call);
      this.#settle(petId);
      return answer;
    },
    listInventory: (call) =>
      this.#page(
        call,
        [...this.rows.pets.keys()].map((id) => ({ id, ...this.#item(id) })),
        ({ id, ...item }) => item,
      ),
    listEvents: (call) => this.history.list(call, this.cursors.get(call.query.cursor)?.after),
    getEvent: (call) => {
      const { eventId } = call.params;
      return this.#read(call, this.history.kept.find(({ id }) => id === eventId) ?? refuse('not_found'));
    },
    createWebhook: (call) => {
      assertUrl(call.body.url);
      const answer = this.#answerPlainly(call);
      Object.assign(answer.body as Row, { createdAt: this.#now });
      return { ...answer, unknown: 'secret' };
    },
    updateWebhook: (call) => {
      if ('url' in call.body) assertUrl(call.body.url);
      return this.#answerPlainly(call);
    },
    rotateWebhookSecret: ({ params }) => {
      const previousSecretValidUntil = new Date(Date.parse(this.#now) + rotationMs).toISOString();
      const webhook = { ...found(this.rows.webhooks, params.webhookId), previousSecretValidUntil };
      this.rows.webhooks.set(webhook.id, webhook);
      return { status: 200, body: webhook, unknown: 'secret' };
    },
    pingWebhook: ({ params }) => {
      const { id: webhookId } = this.#enabled(params.webhookId);
      const id = this.#nextId('deliveries');
      const fields = { webhookId, type: 'ping', state: 'pending', attempts: [], createdAt: this.#now };
      const ping = { id, ...fields };
      this.deliveries.set(id, ping);
      this.#lastIds.deliveries = id;
      return { status: 202, body: ping, unknown: 'messageId' };
    },
    listDeliveries: ({ params, query }) => {
      const { id } = found(this.rows.webhooks, params.webhookId);
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
      if (delivery.webhookId !== id) refuse('not_found');
      return { status: 202, body: delivery, unknown: 'messageId' };
    },
    deleteWebhook: (call) => {
      const answer = this.#answerPlainly(call);
      for (const { id, webhookId } of this.deliveries.values())
        if (webhookId === call.params.webhookId) this.deliveries.delete(id);
      return answer;
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

  #enabled(id: number | undefined): Row {
    const webhook = found(this.rows.webhooks, id);
    if (!webhook.enabled) refuse('conflict');
    return webhook;
  }

  #changePet(call: Call): Expected {
    const pet = this.#changeable(call, this.rows.pets, 'petId');
    this.#assertCategory({ ...pet, ...call.body });
    return this.#answerPlainly(call);
  }

  #item(petId: number | undefined) {
    const { id, status } = found(this.rows.pets, petId);
    return { petId: id, quantity: this.stock.get(id) as number, status };
  }

  /** Takes units from the stock of a pet. Negative ones return. */
  #take(petId: number | undefined, units: number): void {
    if (petId === undefined) return;
    const stock = this.stock.get(petId) ?? refuse('invalid_reference');
    if (stock < units) refuse('insufficient_stock');
    if (stock - units > maxStock) refuse('conflict');
    this.stock.set(petId, stock - units);
  }

  /** Sets the status of a pet from its stock and its open orders. */
  #settle(petId: number | undefined): void {
    const pet = this.rows.pets.get(petId as number);
    if (!pet) return;
    const isInStock = (this.stock.get(pet.id) as number) > 0;
    pet.status = isInStock ? 'available' : this.#isHeld(pet.id) ? 'pending' : 'sold';
  }

  #isHeld(id: number): boolean {
    return [...this.rows.orders.values()].some(({ petId, complete }) => petId === id && !complete);
  }

  #assertCategory({ categoryId }: { categoryId: number }): void {
    if (!this.rows.categories.has(categoryId)) refuse('invalid_reference');
  }

  #changeable(call: Call, rows: Rows, name: string): Row {
    const row = found(rows, call.params[name]);
    this.#assertMayChange(call, row);
    return row;
  }

  #assertMayChange({ headers }: Call, current: object): void {
    const ifMatch = headers['if-match'];
    const ifNoneMatch = headers['if-none-match'];
    const isOther = ifMatch !== undefined && ifMatch.trim() !== '*' && !this.#names(ifMatch, current);
    if (isOther || this.#isKnown(ifNoneMatch, current)) refuse('precondition_failed');
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

  /** A page of the rows with the values of the query. */
  #page({ query }: Call, rows: Iterable<Row>, toItem: (row: Row) => unknown = (row) => row): Expected {
    const { limit = query.id?.length ?? 20, cursor, ...wanted } = query;
    const fits = (row: Row) =>
      Object.entries(wanted).every(([name, value]) => [value].flat().includes(row[name]));
    const after = cursor === undefined ? 0 : (this.cursors.get(cursor)?.after as number);
    const following = [...rows].filter((row) => row.id > after && fits(row));
    const items = following.slice(0, limit);
    const next = following.length > limit ? { next: (items.at(-1) as Row).id } : {};
    return { status: 200, body: items.map(toItem), ...next };
  }

  #nextId(kind: RowKind): number {
    return (this.#lastIds[kind] ?? 0) + 1;
  }

  #keep(kind: RowKind, row: Row): void {
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

const found = (rows: Rows, id: number | undefined): Row => rows.get(id as number) ?? refuse('not_found');

function fail(operationId: string): never {
  throw new Error(`Add ${operationId} to #operations of the model: it has rules of its own.`);
}

function refuse(code: ErrorCode): never {
  throw new Refusal(code);
}

function assertUrl(url: string): void {
  if (!goodUrls.includes(url)) refuse('invalid_request');
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

/** A resource with its defaults. Null stands for them, or for nothing. */
function rowOf(kind: RowKind, id: number, fields: object): Row {
  const given = Object.entries(fields).filter(([, value]) => value !== null);
  return { ...defaults[kind], ...Object.fromEntries(given), id };
}
