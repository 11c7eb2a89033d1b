/**
 * What relies on how `pg` 8.23 runs a query: a subclass of its `Query`. The client asks the server for the columns of a prepared
 * statement at each use. That is a third of what a small read costs on either side.
 */
import { type Client, type Connection, Query, type QueryArrayResult } from 'pg';
import type { Statement } from './postgres-statements.ts';
import type { Row } from './sql.ts';

type Callback = (error: Error | null, result: QueryArrayResult<Row>) => void;

interface RowDescription {
  fields: unknown[];
}

/** What the published types lack. */
interface QueryMethods {
  submit(connection: Connection): Error | null;
  handleRowDescription(message: RowDescription): void;
}

const BaseQuery = Query as unknown as new (statement: Statement, callback: Callback) => QueryMethods;

/** The columns of the statements that a connection has prepared, by their names. */
const columnsOf = new WeakMap<Connection, Map<string, RowDescription>>();

class ReadQuery extends BaseQuery {
  readonly #statement: Statement;
  readonly #columns: Map<string, RowDescription>;

  constructor(connection: Connection, statement: Statement, callback: Callback) {
    super(statement, callback);
    this.#statement = statement;
    const columns = columnsOf.get(connection) ?? new Map();
    columnsOf.set(connection, columns);
    this.#columns = columns;
  }

  override submit(connection: Connection): Error | null {
    const { name = '', values = [] } = this.#statement;
    const columns = this.#columns.get(name);
    if (!columns) return super.submit(connection);
    super.handleRowDescription(columns);
    const texts = values.map((value) => (value === null ? null : String(value)));
    connection.bind({ statement: name, values: texts }, true);
    connection.execute(null, true);
    connection.sync();
    return null;
  }

  override handleRowDescription(columns: RowDescription): void {
    const { name } = this.#statement;
    if (name !== undefined) this.#columns.set(name, columns);
    super.handleRowDescription(columns);
  }
}

/** Sends a read. The client must have the setting `pipeline`, so that it does not wait for the answers to others. */
export function sendRead(client: Client, statement: Statement, callback: Callback): void {
  client.query(new ReadQuery(client.connection, statement, callback));
}
