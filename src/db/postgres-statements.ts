import { createHash } from 'node:crypto';
import type { PoolClient, QueryArrayConfig } from 'pg';
import type { SpanText } from '../foundation/tracing.ts';
import { type Fragment, flatten, PreparedByTemplate, type SqlValue } from './sql.ts';

/** Statements with more values contain lists, so their text varies with the length. They are not prepared. */
const maxPreparedValues = 16;

/** The published types lack `query_timeout`. */
export type Statement = QueryArrayConfig<SqlValue[]> & { query_timeout?: number };

/** Statements by template: the text for the server, and the name of the prepared statement. */
export class Statements {
  readonly #byTemplate = new PreparedByTemplate<{ text: string; name: string }>();
  readonly #names = new Map<string, string>();
  readonly #kept = new WeakMap<PoolClient, Set<string>>();

  of(template: TemplateStringsArray, values: (SqlValue | Fragment)[]): Statement {
    const known = this.#byTemplate.find(template, values);
    if (known) return { ...known.prepared, values: known.values, rowMode: 'array' };
    const flat = flatten(template, values, (n) => `$${n}`);
    if (flat.values.length > maxPreparedValues) return { ...flat, rowMode: 'array' };
    const statement = { text: flat.text, name: this.#nameOf(flat.text) };
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

  /** A name that always means the same text, because some poolers share prepared statements between clients. */
  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (!name) {
      name = `petstore_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
      this.#names.set(text, name);
    }
    return name;
  }
}

/** What the span of a statement says: its text has `$1` in place of each value. */
export const textOf =
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
