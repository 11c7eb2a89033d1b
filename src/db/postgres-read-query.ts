/**
 * A subclass of the `Query` of `pg` 8.23, which requests the columns of a prepared statement at each use, and builds a result from them:
 * half of the cost of a small read here, and a fifth on the server.
 */
import { type Client, type Connection, Query } from 'pg';
import type { Statement } from './postgres-statements.ts';
import type { Row, SqlValue } from './sql.ts';

type Callback = (error: Error | null, rows: Row[]) => void;
/** Reads the text of a value. */
type Parser = (text: string) => SqlValue;

/** Members that the published types lack or declare differently. */
interface QueryMethods {
  name: string | undefined;
  values: SqlValue[];
  /** The client wraps it in a function that clears the timeout. */
  callback: Callback;
  submit(connection: Connection): Error | null;
}

const BaseQuery = Query as unknown as new (text: string) => QueryMethods;

/** How to read the columns of the statements that a connection has prepared, by their names. */
const preparedOn = new WeakMap<Client, Map<string, Parser[]>>();

class ReadQuery extends BaseQuery {
  readonly #client: Client;
  readonly #rows: Row[] = [];
  #parsers: Parser[] = [];

  constructor(client: Client, { text, name, values = [] }: Statement, callback: Callback) {
    super(text);
    this.name = name;
    this.values = values;
    this.callback = callback;
    this.#client = client;
  }

  override submit(connection: Connection): Error | null {
    const parsers = this.name && preparedOn.get(this.#client)?.get(this.name);
    if (!parsers) return super.submit(connection);
    this.#parsers = parsers;
    const values = this.values.map((value) => (value === null ? null : String(value)));
    connection.bind({ statement: this.name, values }, true);
    connection.execute(null, true);
    connection.sync();
    return null;
  }

  handleRowDescription({ fields }: { fields: { dataTypeID: number }[] }): void {
    this.#parsers = fields.map(({ dataTypeID }) => this.#client.getTypeParser(dataTypeID));
    if (!this.name) return;
    const prepared = preparedOn.get(this.#client);
    if (prepared) prepared.set(this.name, this.#parsers);
    else preparedOn.set(this.#client, new Map([[this.name, this.#parsers]]));
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#rows.push(fields.map((text, i) => (text === null ? null : (this.#parsers[i] as Parser)(text))));
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null, this.#rows);
  }
}

/** Sends a read. The client must have the setting `pipeline`, so that it does not wait for the results of others. */
export function sendRead(client: Client, statement: Statement, callback: Callback): void {
  client.query(new ReadQuery(client, statement, callback));
}
