import { createHash } from 'node:crypto';
import type { PoolClient, QueryArrayConfig } from 'pg';
import { Fragment, flatten, type SqlValue } from './sql.ts';

/** Statements with more values hold lists, whose text differs with each length; they are not kept prepared. */
const maxPreparedValues = 16;

/** The published types lack the time that the answer of a statement may take. */
export type Statement = QueryArrayConfig<SqlValue[]> & { query_timeout?: number };

/** Statements by their template: the text for the server, and the name under which each connection keeps it prepared. */
export class Statements {
  readonly #byTemplate = new WeakMap<TemplateStringsArray, { text: string; name: string }>();
  readonly #names = new Map<string, string>();
  readonly #kept = new WeakMap<PoolClient, Set<string>>();

  of(template: TemplateStringsArray, values: (SqlValue | Fragment)[]): Statement {
    const known = this.#byTemplate.get(template);
    if (known) return { ...known, values: values as SqlValue[], rowMode: 'array' };
    const flat = flatten(template, values, (n) => `$${n}`);
    if (flat.values.length > maxPreparedValues) return { ...flat, rowMode: 'array' };
    const statement = { text: flat.text, name: this.#nameOf(flat.text) };
    if (!values.some((value) => value instanceof Fragment)) this.#byTemplate.set(template, statement);
    return { ...statement, values: flat.values, rowMode: 'array' };
  }

  /** Remembers that a connection has a statement prepared. */
  keep(client: PoolClient, { name }: Statement): void {
    if (name === undefined) return;
    const kept = this.#kept.get(client);
    if (kept) kept.add(name);
    else this.#kept.set(client, new Set([name]));
  }

  /** Whether a connection has a statement prepared, or needs not. */
  isKept(client: PoolClient, { name }: Statement): boolean {
    return name === undefined || this.#kept.get(client)?.has(name) === true;
  }

  /** A name that always means the same text, since a pooler that does not keep statements apart may run another client's. */
  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (!name) {
      name = `petstore_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
      this.#names.set(text, name);
    }
    return name;
  }
}
