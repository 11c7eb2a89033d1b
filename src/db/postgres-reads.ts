import type { PoolClient } from 'pg';
import type { StorageCounts } from './database.ts';
import { sendRead } from './postgres-read-query.ts';
import type { Statement } from './postgres-statements.ts';
import type { Row } from './sql.ts';

/** The maximum number of statements that share a connection at once. Further ones use another connection, and another server process. */
const maxTogether = 16;
/** The maximum number of reads that share a statement. */
const maxMerged = 64;
/** A statement that takes longer is slow. */
const slowMs = 100;

/** The source of connections. */
interface Connections {
  acquire(): Promise<PoolClient>;
  /** Takes a connection back. Must close it if a statement has failed on it. */
  release(client: PoolClient, hasFailed: boolean): void;
}

interface Read {
  statement: Statement;
  resolve(rows: Row[]): void;
  reject(error: unknown): void;
  /** The number of groups in which it waits for a connection or a result. */
  attempts: number;
  isAnswered: boolean;
}

/** Reads that share a statement. They differ at most in their last value. */
type Merged = [Read, ...Read[]];

/**
 * Sends reads in groups: those that arrive together, or until a connection is free. A group has a connection to itself and is sent by one
 * system call. Statements behind a slow one are sent again on another connection; the first result counts. Reads that differ only in the
 * requested id share a statement, which is most of the cost of a small read.
 */
export class PipelinedReads {
  readonly #connections: Connections;
  /** The group that more reads can join, because it has no connection yet. */
  #joinable: Merged[] | undefined;
  readonly #counts: StorageCounts;

  constructor(connections: Connections, counts: StorageCounts) {
    this.#connections = connections;
    this.#counts = counts;
  }

  add(statement: Statement): Promise<Row[]> {
    return new Promise((resolve, reject) =>
      this.#join({ statement, resolve, reject, attempts: 0, isAnswered: false }),
    );
  }

  #join(read: Read): void {
    read.attempts++;
    // A read that was slow or stuck in a shared statement gets its own.
    const merged = read.attempts === 1 && this.#joinable?.find((one) => canMerge(one, read));
    if (merged) {
      merged.push(read);
      return;
    }
    if (this.#joinable && this.#joinable.length < maxTogether) {
      this.#joinable.push([read]);
      return;
    }
    const group: Merged[] = [[read]];
    this.#joinable = group;
    void this.#run(group);
  }

  async #run(group: Merged[]): Promise<void> {
    let client: PoolClient;
    try {
      client = await this.#connections.acquire();
    } catch (error) {
      for (const read of group.flat()) fail(read, error);
      return;
    } finally {
      if (this.#joinable === group) this.#joinable = undefined;
    }
    const unanswered = group.filter((merged) => merged.some(({ isAnswered }) => !isAnswered));
    this.#connections.release(client, await this.#send(client, unanswered));
  }

  /** Sends a group. Waits for all results, and returns whether a statement has failed. */
  async #send(client: PoolClient, group: Merged[]): Promise<boolean> {
    this.#counts.statements += group.length;
    let answered = 0;
    let hasFailed = false;
    const send = (merged: Merged) =>
      new Promise<void>((resolve) =>
        sendRead(client, statementOf(merged), (error, rows) => {
          answered++;
          if (error) {
            hasFailed = true;
            for (const read of merged) fail(read, error);
          } else {
            answer(merged, rows);
          }
          resolve();
        }),
      );
    const { stream } = client.connection;
    stream.cork();
    const answers = group.map(send);
    stream.uncork();
    const stop = onceStuck(
      () => answered,
      () => {
        const [stuck, ...behind] = group.slice(answered) as [Merged, ...Merged[]];
        const again = stuck.length > 1 ? [stuck, ...behind] : behind;
        for (const read of again.flat()) this.#join(read);
      },
    );
    await Promise.all(answers);
    stop();
    return hasFailed;
  }
}

/** Whether a read can share the statement of others: it differs from them only in its last value, which is a number. */
function canMerge(merged: Merged, { statement: { forSeveral, values = [] } }: Read): boolean {
  const [{ statement, attempts }] = merged;
  return (
    forSeveral !== undefined &&
    forSeveral === statement.forSeveral &&
    attempts === 1 &&
    merged.length < maxMerged &&
    typeof values.at(-1) === 'number' &&
    values.every((value, i) => i === values.length - 1 || value === statement.values?.[i])
  );
}

const lastValueOf = ({ statement }: Read) => String(statement.values?.at(-1));

function statementOf(merged: Merged): Statement {
  const [{ statement }, ...others] = merged;
  const { forSeveral, values = [] } = statement;
  if (others.length === 0 || forSeveral === undefined) return statement;
  const lastValues = new Set(merged.map(lastValueOf));
  return { ...statement, ...forSeveral, values: [...values.slice(0, -1), `{${[...lastValues].join()}}`] };
}

/** Gives each read its rows. */
function answer(merged: Merged, rows: Row[]): void {
  const byLastValue = merged.length > 1 && Map.groupBy(rows, (row) => String(row.pop()));
  for (const read of merged) {
    read.isAnswered = true;
    read.resolve(byLastValue ? (byLastValue.get(lastValueOf(read)) ?? []) : rows);
  }
}

/** Rejects a read, unless it also waits for another result. */
function fail(read: Read, error: unknown): void {
  read.attempts--;
  if (read.attempts === 0) read.reject(error);
}

/** Calls `act` once `progress` stays the same for `slowMs`, until the returned function is called. */
function onceStuck(progress: () => number, act: () => void): () => void {
  let last = progress();
  const check = () => {
    if (progress() === last) {
      clearInterval(timer);
      act();
    }
    last = progress();
  };
  // If this process was busy, results may have arrived unread. Sockets are read before setImmediate.
  const timer = setInterval(() => setImmediate(check), slowMs);
  return () => clearInterval(timer);
}
