import { type Columns, type Fragment, fragment, identifier, join, type Sql } from '../../db/sql.ts';
import type { RowKind } from '../../db/tables.ts';
import { ApiError } from '../../foundation/errors.ts';
import { type Page, type PageRequest, toPage } from '../../http/pagination.ts';

interface TableOptions<Item> {
  table: RowKind;
  columns: Columns<Item>;
  /** A column that no index has. To lock a row, it is set to its own value, which locks it on both engines. */
  lockColumn: string;
  /** The message of the error for an id without a row. */
  notFound: string;
}

/** The reads that all resources share. */
export class ResourceTable<Item> {
  readonly #table: Fragment;
  readonly #columns: Columns<Item>;
  readonly #lock: Fragment;
  readonly #notFound: string;

  constructor({ table, columns, lockColumn, notFound }: TableOptions<Item>) {
    this.#table = identifier(table);
    this.#columns = columns;
    this.#lock = identifier(`${table} set ${lockColumn} = ${lockColumn}`);
    this.#notFound = notFound;
  }

  /** A page in the order of ids. An undefined condition is left out. */
  async list(
    sql: Sql,
    workspaceId: number,
    page: PageRequest,
    conditions: readonly (Fragment | undefined)[] = [],
  ): Promise<Page<Item>> {
    const all = [fragment`workspace_id = ${workspaceId}`, fragment`id > ${page.after}`];
    for (const condition of conditions) if (condition) all.push(condition);
    const rows = await sql`
      select ${this.#columns.list} from ${this.#table}
      where ${join(all, ' and ')} order by id limit ${page.limit + 1}`;
    return toPage(rows, page.limit, this.#columns.read);
  }

  /** Throws `not_found`. */
  async get(sql: Sql, workspaceId: number, id: number): Promise<Item> {
    const [row] = await sql`
      select ${this.#columns.list} from ${this.#table} where workspace_id = ${workspaceId} and id = ${id}`;
    return row ? this.#columns.read(row) : this.throwNotFound();
  }

  /** Reads an item and locks its row until the transaction ends. Throws `not_found`. */
  async lock(sql: Sql, workspaceId: number, id: number): Promise<Item> {
    return (await this.lockIfFound(sql, workspaceId, id)) ?? this.throwNotFound();
  }

  async lockIfFound(sql: Sql, workspaceId: number, id: number): Promise<Item | undefined> {
    const [row] = await sql`
      update ${this.#lock} where workspace_id = ${workspaceId} and id = ${id} returning ${this.#columns.list}`;
    return row && this.#columns.read(row);
  }

  throwNotFound(): never {
    throw new ApiError('not_found', this.#notFound);
  }
}
