import type { PoolClient } from 'pg';
import { sendRead } from './postgres-read-query.ts';
import type { Statement } from './postgres-statements.ts';
import type { Row } from './sql.ts';

/** How many reads share a connection at once. Further ones use another connection, and another process of the server. */
const maxTogether = 16;
/** A statement that takes longer is slow. */
const slowMs = 100;

/** Where connections come from. */
interface Connections {
  acquire(): Promise<PoolClient>;
  /** Takes a connection back. Must close it if a statement has failed on it. */
  release(client: PoolClient, hasFailed: boolean): void;
}

interface Read {
  statement: Statement;
  resolve(rows: Row[]): void;
  reject(error: unknown): void;
  /** How many times it waits for a connection or for a result. */
  attempts: number;
  isAnswered: boolean;
}

/**
 * Sends reads in groups: those that arrive together, and while all connections are in use those that arrive meanwhile. A group has a
 * connection to itself and is sent by one system call. The server responds in order, so a slow statement holds up those behind it. They
 * are sent again on another connection, and the first result counts.
 */
export class PipelinedReads {
  readonly #connections: Connections;
  /** The group that more reads can join, because it has no connection yet. */
  #joinable: Read[] | undefined;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  add(statement: Statement): Promise<Row[]> {
    return new Promise((resolve, reject) =>
      this.#join({ statement, resolve, reject, attempts: 0, isAnswered: false }),
    );
  }

  #join(read: Read): void {
    read.attempts++;
    if (this.#joinable && this.#joinable.length < maxTogether) {
      this.#joinable.push(read);
      return;
    }
    const group = [read];
    this.#joinable = group;
    void this.#run(group);
  }

  async #run(group: Read[]): Promise<void> {
    let client: PoolClient;
    try {
      client = await this.#connections.acquire();
    } catch (error) {
      for (const read of group) fail(read, error);
      return;
    } finally {
      if (this.#joinable === group) this.#joinable = undefined;
    }
    const unanswered = group.filter(({ isAnswered }) => !isAnswered);
    this.#connections.release(client, await this.#send(client, unanswered));
  }

  /** Sends a group. Returns whether a statement has failed, once all have their results. */
  async #send(client: PoolClient, group: Read[]): Promise<boolean> {
    let answered = 0;
    let hasFailed = false;
    const send = (read: Read) =>
      new Promise<void>((resolve) =>
        sendRead(client, read.statement, (error, rows) => {
          answered++;
          if (error) {
            hasFailed = true;
            fail(read, error);
          } else {
            read.isAnswered = true;
            read.resolve(rows);
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
        for (const read of group.slice(answered + 1)) this.#join(read);
      },
    );
    await Promise.all(answers);
    stop();
    return hasFailed;
  }
}

/** Rejects a read unless it waits elsewhere, too. */
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
