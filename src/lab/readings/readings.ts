import type { Database } from '../../db/database.ts';
import { fragment, type Sql } from '../../db/sql.ts';
import { Rendered } from '../../http/operation.ts';
import type { PageRequest } from '../../http/pagination.ts';
import { checksVersion } from '../checks/list.ts';
import type { Report } from '../checks/report.ts';
import { getRecording } from '../recordings/recording-store.ts';
import type { Reader } from '../recordings/services.ts';
import { ReadingQueue } from './queue.ts';
import type { ReadingResult, ReadingTask, ReadRows, WorkerOfReadings } from './worker.ts';

type Without<Task, Keys extends PropertyKey> = Task extends unknown ? Omit<Task, Keys> : never;
type Task = Without<ReadingTask, 'workspaceId' | 'requests' | 'beganAtMs'>;
type Made = ReadingResult & { requests: number };

/** Makes the reports, archives and pages of recordings: in a queue and in a thread, and not for clients that have disconnected. */
export class Readings {
  readonly #db: Database;
  readonly #queue = new ReadingQueue();
  readonly #worker: WorkerOfReadings;

  constructor(db: Database, worker: WorkerOfReadings) {
    this.#db = db;
    this.#worker = worker;
  }

  /** The report card of a recording. It is kept until the recording has more requests or the checks change. */
  async report(reader: Reader, recordingId: string): Promise<Report> {
    const kept = await this.#findReport(reader, recordingId);
    if (kept) return kept;
    return this.#queue.run(reader, async (signal) => {
      // A request that was ahead in the queue may have made it.
      const kept = await this.#findReport(reader, recordingId);
      if (kept) return kept;
      const { requests, bytes } = await this.#make(reader, { kind: 'report', recordingId }, signal);
      const text = new TextDecoder().decode(bytes);
      await keepReport(this.#db, { workspaceId: reader.workspaceId, recordingId, requests }, text);
      return JSON.parse(text);
    });
  }

  /** The requests after a number as an HTTP Archive. `url`: the address of the first archive. */
  archive(reader: Reader, recordingId: string, after: number, url: string): Promise<Rendered> {
    return this.#read(reader, { kind: 'archive', recordingId, after, url });
  }

  /** A page of recorded requests. */
  page(reader: Reader, recordingId: string, part: PageRequest): Promise<Rendered> {
    return this.#read(reader, { kind: 'page', recordingId, ...part });
  }

  /** Ends the thread. */
  close(): Promise<void> {
    return this.#worker.close();
  }

  async #findReport(reader: Reader, recordingId: string): Promise<Report | undefined> {
    const { requests } = await getRecording(this.#db.read, reader, recordingId);
    return findReport(this.#db.read, { workspaceId: reader.workspaceId, recordingId, requests });
  }

  async #read(reader: Reader, task: Task): Promise<Rendered> {
    return new Rendered(await this.#queue.run(reader, (signal) => this.#make(reader, task, signal)));
  }

  async #make(reader: Reader, task: Task, signal: AbortSignal): Promise<Made> {
    const { requests, createdAt } = await getRecording(this.#db.read, reader, task.recordingId);
    const beganAtMs = Date.parse(createdAt);
    const whole: ReadingTask = { ...task, workspaceId: reader.workspaceId, requests, beganAtMs };
    const reading = await this.#worker.make(whole, readRowsOf(this.#db.read), signal);
    // Throws if the recording was removed meanwhile: then rows may be missing.
    await getRecording(this.#db.read, reader, task.recordingId);
    return { ...reading, requests };
  }
}

/** The columns of a slice, and how many rows are read at once: so few that no request waits for them. */
const columnsOf = {
  times: { columns: fragment`number, at_us, took_us, fingerprint`, limit: 250 },
  facts: { columns: fragment`number, at_us, took_us, facts`, limit: 50 },
  all: { columns: fragment`number, at_us, took_us, facts, body`, limit: 20 },
};

const readRowsOf =
  (sql: Sql): ReadRows =>
  (slice) => {
    const { workspaceId, recordingId, after, upTo } = slice;
    const { columns, limit } = columnsOf[slice.columns];
    return sql`
      select ${columns} from recorded_requests
      where workspace_id = ${workspaceId} and recording_id = ${recordingId} and number > ${after} and number <= ${upTo}
      order by number limit ${limit}`;
  };

/** The first `requests` requests of a recording, on which a report was made. */
interface Reported {
  workspaceId: number;
  recordingId: string;
  requests: number;
}

async function findReport(sql: Sql, reported: Reported): Promise<Report | undefined> {
  const { workspaceId, recordingId, requests } = reported;
  const [row] = await sql`
    select report from recording_reports where workspace_id = ${workspaceId} and recording_id = ${recordingId}
      and requests = ${requests} and version = ${checksVersion}`;
  return row && JSON.parse(String(row[0]));
}

/** Keeps a report in place of the one before, unless its recording was removed. Errors are ignored: the report is made again then. */
async function keepReport(db: Database, reported: Reported, report: string): Promise<void> {
  const { workspaceId, recordingId, requests } = reported;
  const keeping = db.write(async (sql) => {
    // Locks the recording, so that nobody removes it meanwhile.
    const rows = await sql`
      update recordings set kept = kept where workspace_id = ${workspaceId} and id = ${recordingId} returning id`;
    if (rows.length === 0) return;
    await sql`
      insert into recording_reports (workspace_id, recording_id, requests, version, report)
      values (${workspaceId}, ${recordingId}, ${requests}, ${checksVersion}, ${report})
      on conflict (workspace_id, recording_id) do update set
        requests = excluded.requests, version = excluded.version, report = excluded.report`;
  });
  await keeping.catch(() => {});
}
