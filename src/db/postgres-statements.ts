import { createHash } from 'node:crypto';
import type { PoolClient, QueryArrayConfig } from 'pg';
import type { SpanText } from '../foundation/tracer.ts';
import { type Fragment, flatten, PreparedByTemplate, type SqlValue } from './sql.ts';

/** Statements with more values contain lists, so their text varies with the length. They are not prepared. */
const maxPreparedValues = 16;

/** The published types lack `query_timeout`. */
export type Statement = QueryArrayConfig<SqlValue[]> & {
  query_timeout?: number;
  /** The same read for several last values at once, if possible. The last column of each row is the value that it belongs to. */
  forSeveral?: PreparedText | undefined;
};

interface PreparedText {
  text: string;
  /** The name of the prepared statement. */
  name: string;
}

/** Statements by template: the text for the server, and the name of the prepared statement. */
export class Statements {
  readonly #byTemplate = new PreparedByTemplate<PreparedText & Pick<Statement, 'forSeveral'>>();
  readonly #names = new Map<string, string>();
  readonly #kept = new WeakMap<PoolClient, Set<string>>();

  of(template: TemplateStringsArray, values: (SqlValue | Fragment)[]): Statement {
    const known = this.#byTemplate.find(template, values);
    if (known) return { ...known.prepared, values: known.values, rowMode: 'array' };
    const flat = flatten(template, values, (n) => `$${n}`);
    if (flat.values.length > maxPreparedValues) return { ...flat, rowMode: 'array' };
    const textForSeveral = forSeveral(flat.text);
    const statement = {
      ...this.#prepared(flat.text),
      forSeveral: textForSeveral === undefined ? undefined : this.#prepared(textForSeveral),
    };
    this.#byTemplate.keep(template, values, statement);
    return { ...statement, values: flat.values, rowMode: 'array' };
  }

  /** Notes that a connection has prepared a statement. */
  keep(client: PoolClient, { name }: Statement): void {
    if (name === undefined) return;
    const kept = this.#kept.get(client);
    if (kept) kept.add(name);
    else this.#kept.set(client, new Set([name]));
  }

  /** Whether a connection has prepared a statement, or does not need to. */
  isKept(client: PoolClient, { name }: Statement): boolean {
    return name === undefined || this.#kept.get(client)?.has(name) === true;
  }

  #prepared = (text: string): PreparedText => ({ text, name: this.#nameOf(text) });

  /** A name that always belongs to the same text, because some poolers share prepared statements between clients. */
  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (!name) {
      name = `petstore_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
      this.#names.set(text, name);
    }
    return name;
  }
}

/** The text of a read for several last values: of plain columns of one table. The other values are the same, so Citus finds the node. */
function forSeveral(text: string): string | undefined {
  const read = /^\s*select ([\w\s,]+)(\sfrom \w+\s+where (?:\w+ = \$\d+\s+and\s+)*(\w+) = )(\$\d+)\s*$/.exec(
    text,
  );
  if (!read) return undefined;
  const [, list, condition, column, last] = read;
  return `select ${list}, ${column}${condition}any(${last})`;
}

/** The text of a statement's span. It has placeholders such as `$1` in place of values. */
export const spanTextOf =
  ({ text }: Statement) =>
  (): SpanText => {
    const operation = /\w+/.exec(text)?.[0].toUpperCase() ?? '';
    const table = /\b(?:from|into|update)\s+(\w+)/i.exec(text)?.[1];
    const name = table ? `${operation} ${table}` : operation;
    return {
      name,
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': operation,
        'db.query.summary': name,
        'db.query.text': text.trim().replaceAll(/\s+/g, ' '),
      },
    };
  };
