import type { Database } from '../../db/database.ts';
import { fragment, type Sql } from '../../db/sql.ts';
import { CallThread } from '../../foundation/call-thread.ts';
import { ApiError } from '../../foundation/errors.ts';
import { Slots } from '../../foundation/fair-slots.ts';
import type { PageRequest } from '../../http/pagination.ts';
import { Rendered } from '../../http/responses.ts';
import { checksVersion } from '../checks/list.ts';
import type { Report } from '../checks/report-schema.ts';
import { maxWaitingReportJobs } from '../lab-bounds.ts';
import type { Reader } from '../recordings/operations.ts';
import { getRecording } from '../recordings/store.ts';
import type { ReadRows, ReportJob, ReportJobCall, ReportJobResult, Slice } from './run-report-job.ts';

type Without<Task, Keys extends PropertyKey> = Task extends unknown ? Omit<Task, Keys> : never;
type Task = Without<ReportJob, 'workspaceId' | 'requests' | 'beganAtMs'>;
type Made = ReportJobResult & { requests: number };

/** Makes the reports, archives and pages of recordings: in a queue and in a thread, and not for clients that have disconnected. */
export class ReportJobs {
  readonly #db: Database;
  readonly #queue = new ReportJobQueue();
  readonly #worker: ReportJobRunner;

  constructor(db: Database, worker: ReportJobRunner) {
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
      await keepReport(this.#db, reader, recordingId, requests, text);
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
    const [row] = await this.#db.read`
      select report from recording_reports where workspace_id = ${reader.workspaceId} and recording_id = ${recordingId}
        and requests = ${requests} and version = ${checksVersion}`;
    return row && JSON.parse(String(row[0]));
  }

  async #read(reader: Reader, task: Task): Promise<Rendered> {
    return new Rendered(await this.#queue.run(reader, (signal) => this.#make(reader, task, signal)));
  }

  async #make(reader: Reader, task: Task, signal: AbortSignal): Promise<Made> {
    const { requests, createdAt } = await getRecording(this.#db.read, reader, task.recordingId);
    const beganAtMs = Date.parse(createdAt);
    const whole: ReportJob = { ...task, workspaceId: reader.workspaceId, requests, beganAtMs };
    const made = await this.#worker.make(whole, readRowsOf(this.#db.read), signal);
    // Throws if the recording was removed meanwhile: then rows may be missing.
    await getRecording(this.#db.read, reader, task.recordingId);
    return { ...made, requests };
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

/** Replaces the stored report, unless the recording was removed. Errors are ignored: the report is made again then. */
async function keepReport(
  db: Database,
  { workspaceId }: Reader,
  recordingId: string,
  requests: number,
  report: string,
): Promise<void> {
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

/** Queue for report jobs: the instance makes one at a time, keys take turns, and a few of each key wait. */
export class ReportJobQueue {
  readonly #ofKeys = new Slots<string>(Number.POSITIVE_INFINITY, 1);
  readonly #ofAll = new Slots<string>(1, 1);
  /** The report jobs of each key that are in progress or wait. */
  readonly #counts = new Map<string, number>();

  /** Calls `make` in turn. The turn ends when the client has its response or disconnects: one that reads nothing fills no memory. */
  async run<T>(reader: Reader, make: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const key = `${reader.workspaceId} ${reader.keyId}`;
    if ((this.#counts.get(key) ?? 0) > maxWaitingReportJobs) throw tooMany();
    const signal = reader.disconnected();
    signal.throwIfAborted();
    this.#count(key, 1);
    const left = Promise.withResolvers<never>();
    const leave = () => left.reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    const ended = left.promise.catch(() => this.#count(key, -1));
    const made = Promise.withResolvers<T>();
    void this.#ofKeys.run(key, async () => {
      if (signal.aborted) return;
      const making = this.#ofAll.run(key, async () => {
        signal.throwIfAborted();
        return make(signal);
      });
      await making.then(made.resolve, left.reject);
      await ended;
    });
    return Promise.race([made.promise, left.promise]);
  }

  #count(key: string, change: number): void {
    const count = (this.#counts.get(key) ?? 0) + change;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}

const tooMany = () =>
  new ApiError(
    'rate_limited',
    `This key already reads one report, archive or page of requests, and ${maxWaitingReportJobs} more wait. Try again when one of them has finished.`,
    { 'Retry-After': '1' },
  );

/** The time of a report job and the memory of the thread: many times what a full recording needs on a slow machine. */
export const workerBounds = { limitMs: 60_000, maxMiB: 512 };

/** The part of `ReportJobWorker` that its users need. */
export type ReportJobRunner = Pick<ReportJobWorker, 'make' | 'close'>;

/** Runs report jobs in a thread. */
export class ReportJobWorker {
  readonly #thread: CallThread<ReportJobCall, Slice, ReportJobResult>;
  readonly #limitMs: number;

  /** `module`: the module that the thread runs. */
  constructor(module: URL, { limitMs, maxMiB } = workerBounds) {
    const resourceLimits = { maxOldGenerationSizeMb: maxMiB };
    this.#thread = new CallThread(module, 'reads recordings', { resourceLimits });
    this.#limitMs = limitMs;
  }

  /** Makes a report job; one at a time. Rejects if the signal aborts, `readRows` fails, the thread ends or the time is over. */
  async make(task: ReportJob, readRows: ReadRows, signal: AbortSignal): Promise<ReportJobResult> {
    signal.throwIfAborted();
    const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    let reason: unknown;
    const cancel = (why: unknown) => {
      reason ??= why;
      Atomics.store(flag, 0, 1);
    };
    const onAbort = () => cancel(signal.reason);
    const limit = setTimeout(() => {
      cancel(new Error(`Reading a recording took more than ${this.#limitMs} ms.`));
      void this.close();
    }, this.#limitMs);
    signal.addEventListener('abort', onAbort);
    const onMessage = async (slice: Slice) =>
      (signal.aborted ? undefined : await readRows(slice).catch(cancel)) ?? [];
    try {
      return await this.#thread.call({ task, flag }, onMessage);
    } catch (error) {
      throw reason ?? error;
    } finally {
      clearTimeout(limit);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends the thread, and the report job in it. */
  close(): Promise<void> {
    return this.#thread.close();
  }
}
