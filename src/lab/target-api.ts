import type { Transaction } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import type { Operation } from '../http/operation.ts';

/** The API that the lab rehearses and judges. The lab knows of it only what stands here. */
export interface TargetApi {
  operations: readonly Operation[];
  /** For `conflict`: the other writer of the resource at a path. */
  otherWriterAt?(path: string): OtherWriter | undefined;
  /** For `stale-read`: reads the last changes of the resources that an operation reads. Undefined if no response can be outdated. */
  lastChangesOf?(operation: Operation): ReadLastChanges | undefined;
}

export interface OtherWriter {
  /** The property that it changes. */
  property: string;
  /** Gives the resource a representation that it never had. `keep` gets the value before, and returns it. */
  change(
    sql: Transaction,
    workspaceId: number,
    params: Readonly<Record<string, number>>,
    keep: <Value>(before: Value) => Value,
  ): Promise<unknown>;
}

/** The last change of each resource by its id, oldest first. */
export type ReadLastChanges = (sql: Sql, workspaceId: number) => Promise<ReadonlyMap<unknown, LastChange>>;

export interface LastChange {
  kind: 'created' | 'updated' | 'deleted';
  data: Resource;
  /** The resource before the change; undefined if it did not exist, or is no longer known. */
  before: Resource | undefined;
}

/** Its first property is its id. */
export type Resource = Record<string, unknown>;
