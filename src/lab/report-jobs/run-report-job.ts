import { LRUCache } from 'lru-cache';
import type { Row } from '../../db/sql.ts';
import { serveCalls } from '../../foundation/call-thread.ts';
import { etagOf } from '../../http/etag.ts';
import { jsonText } from '../../http/json.ts';
import { reportOn } from '../checks/report.ts';
import { archiveBounds, maxFollowed } from '../lab-bounds.ts';
import { toHar } from '../recordings/har.ts';
import { type AttemptLink, linkAttempts, type TimedRequest } from '../recordings/link-attempts.ts';
import { outcomeOf } from '../recordings/outcome-kinds.ts';
import {
  byTime,
  type Recorded,
  type StoredFacts,
  type UnlinkedRequest,
} from '../recordings/recorded-request.ts';
import { type RecordedRequest, RecordedRequests } from '../recordings/schema.ts';
import type { TargetApi } from '../target-api.ts';

/** A report, an HTTP Archive or a page of the first `requests` requests of a recording. */
export type ReportJob = {
  workspaceId: number;
  recordingId: string;
  requests: number;
  /** When the recording began, in milliseconds since 1970. */
  beganAtMs: number;
} & (
  | { kind: 'report' }
  /** `url`: the address of the first archive. */
  | { kind: 'archive'; after: number; url: string }
  | { kind: 'page'; after: number; limit: number }
);

/** The JSON text of a report job. `next`: more requests follow after this number. */
export interface ReportJobResult {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
  next?: number;
}

/** Requests of a recording, from `after` + 1 to `upTo`, and which of their columns to read. */
export interface Slice {
  workspaceId: number;
  recordingId: string;
  columns: 'times' | 'facts' | 'all';
  after: number;
  upTo: number;
}

/** Reads the first rows of a slice, in the order of numbers; none if it is empty. */
export type ReadRows = (slice: Slice) => Promise<Row[]>;

/** A call of the thread. The flag is 1 once the report job is cancelled. */
export interface ReportJobCall {
  task: ReportJob;
  flag: Int32Array;
}

/** Runs report jobs in this thread, one at a time, so that their long synchronous steps delay no request. */
export function serveReportJobs(api: TargetApi): void {
  const links = new LinkCache();
  serveCalls<ReportJobCall, Slice, ReportJobResult>(
    async ({ task, flag }, send) => {
      const throwIfCanceled = () => {
        if (Atomics.load(flag, 0) !== 0) throw new Error('This report job is cancelled.');
      };
      const readRows: ReadRows = async (slice) => {
        const rows = (await send(slice)) as Row[];
        throwIfCanceled();
        return rows;
      };
      const { value, next } = await readRecording(task, { api, readRows, links, throwIfCanceled });
      const text = jsonText(value);
      throwIfCanceled();
      const bytes = new TextEncoder().encode(text);
      return { bytes, etag: etagOf(text), ...(next !== undefined && { next }) };
    },
    ({ bytes }) => [bytes.buffer],
  );
}

/** The content of a report, an archive or a page. `next`: more requests follow after this number. */
interface Content {
  value: unknown;
  next?: number;
}

type TaskOf<Kind> = Extract<ReportJob, { kind: Kind }>;

interface Tools {
  api: TargetApi;
  readRows: ReadRows;
  links: LinkCache;
  /** Is called between the checks of a report. */
  throwIfCanceled: () => void;
}

function readRecording(task: ReportJob, tools: Tools): Promise<Content> {
  if (task.kind === 'report') return report(task, tools);
  return task.kind === 'archive' ? archive(task, tools) : page(task, tools);
}

/** The report card, without the requests of the lab's page. It reads no bodies. */
async function report(task: TaskOf<'report'>, tools: Tools): Promise<Content> {
  const { api, readRows, links, throwIfCanceled } = tools;
  const { recordingId, requests: upTo } = task;
  const linkOf = await links.of(task, readRows);
  const recorded: Recorded[] = [];
  for await (const row of rowsOf(readRows, { ...task, columns: 'facts', after: 0, upTo })) {
    const request = linked(toRequest(row), linkOf);
    if (!request.labPage) recorded.push(request);
  }
  return { value: reportOn(recordingId, recorded.sort(byTime), api, { between: throwIfCanceled }) };
}

/** A part of a recording as an HTTP Archive, in the order of time. */
async function archive(task: TaskOf<'archive'>, { readRows }: Tools): Promise<Content> {
  const { requests, after, url } = task;
  const upTo = Math.min(requests, after + archiveBounds.requests);
  const recorded: UnlinkedRequest[] = [];
  let room = archiveBounds.characters;
  for await (const row of rowsOf(readRows, { ...task, columns: 'all', upTo })) {
    room -= String(row[3]).length + (row[4] === null ? 0 : String(row[4]).length);
    if (room < 0 && recorded.length > 0) break;
    recorded.push(toRequest(row));
  }
  const next = nextAfter(recorded, requests);
  return { value: toHar({ recorded: recorded.sort(byTime), ...next }, url) };
}

/** A page of recorded requests, in the order of their numbers. */
async function page(task: TaskOf<'page'>, { readRows, links }: Tools): Promise<Content> {
  const { requests, after, limit, beganAtMs } = task;
  const upTo = Math.min(requests, after + limit);
  const linkOf = upTo > after ? await links.of(task, readRows) : new Map();
  const recorded: Recorded[] = [];
  for await (const row of rowsOf(readRows, { ...task, columns: 'all', upTo }))
    recorded.push(linked(toRequest(row), linkOf));
  const onPage = new Map<number, UnlinkedRequest>(recorded.map((one) => [Number(one.id), one]));
  const value: RecordedRequest[] = [];
  for (const one of recorded) {
    const before = one.before && (onPage.get(one.before) ?? (await readOne(task, one.before, readRows)));
    const hasFailed = before && outcomeOf(before).kind !== 'fine';
    value.push(toRecordedRequest(one, beganAtMs, hasFailed ? before.id : undefined));
  }
  return { value, ...nextAfter(recorded, requests) };
}

/** The request with a number, without its body; undefined if the recording was removed meanwhile. */
async function readOne(
  { workspaceId, recordingId }: ReportJob,
  number: number,
  readRows: ReadRows,
): Promise<UnlinkedRequest | undefined> {
  const slice = { workspaceId, recordingId, columns: 'facts', after: number - 1, upTo: number } as const;
  const [row] = await readRows(slice);
  return row && toRequest(row);
}

async function* rowsOf(readRows: ReadRows, slice: Slice): AsyncGenerator<Row> {
  for (let { after } = slice; after < slice.upTo; ) {
    const rows = await readRows({ ...slice, after });
    if (rows.length === 0) return;
    after = Number(rows.at(-1)?.[0]);
    yield* rows;
  }
}

const nextAfter = (recorded: readonly UnlinkedRequest[], requests: number): Pick<Content, 'next'> => {
  const last = Number(recorded.at(-1)?.id ?? requests);
  return last < requests ? { next: last } : {};
};

const linked = (request: UnlinkedRequest, links: ReadonlyMap<number, AttemptLink>): Recorded => ({
  ...request,
  ...(links.get(Number(request.id)) as AttemptLink),
});

function toRequest([number, atUs, tookUs, facts, body]: Row): UnlinkedRequest {
  const { answer, isProxied, ...rest } = JSON.parse(String(facts)) as StoredFacts;
  return {
    ...rest,
    id: String(number),
    atMs: Number(atUs) / 1_000,
    durationMs: Number(tookUs) / 1_000,
    answerHeaders: answer,
    ...(isProxied && { proxied: true }),
    ...(typeof body === 'string' && { body }),
  };
}

interface LinkedAttempts {
  /** In the order of time. */
  attempts: readonly TimedRequest[];
  links: ReadonlyMap<number, AttemptLink>;
}

/** A client that follows a recording costs only its new requests: rows never change, and their numbers have no gaps. */
class LinkCache {
  readonly #known = new LRUCache<string, LinkedAttempts>({ max: maxFollowed });

  /** The links of at least the first `requests` requests of a recording. */
  async of(
    { workspaceId, recordingId, requests: upTo }: ReportJob,
    readRows: ReadRows,
  ): Promise<ReadonlyMap<number, AttemptLink>> {
    const key = `${workspaceId} ${recordingId}`;
    const known = this.#known.get(key);
    const after = known?.attempts.length ?? 0;
    if (known && after >= upTo) return known.links;
    const attempts = [...(known?.attempts ?? [])];
    const slice = { workspaceId, recordingId, columns: 'times', after, upTo } as const;
    for await (const [number, atUs, tookUs, fingerprint] of rowsOf(readRows, slice))
      attempts.push({
        number: Number(number),
        atUs: Number(atUs),
        tookUs: Number(tookUs),
        fingerprint: String(fingerprint),
      });
    attempts.sort((a, b) => a.atUs - b.atUs || a.number - b.number);
    const links = linkAttempts(attempts);
    this.#known.set(key, { attempts, links });
    return links;
  }
}

const shownProperties = Object.keys(RecordedRequests.items.properties);

/** A recorded request with the properties of its schema. `retryOf`: the id of the failed request that it repeats. */
function toRecordedRequest(recorded: Recorded, beganAtMs: number, retryOf?: string): RecordedRequest {
  const known: Record<string, unknown> = {
    ...recorded,
    at: new Date(recorded.atMs).toISOString(),
    offsetMs: Math.round((recorded.atMs - beganAtMs) * 1_000) / 1_000,
    retryOf,
  };
  const shown = shownProperties.filter((name) => known[name] !== undefined);
  return Object.fromEntries(shown.map((name) => [name, known[name]])) as RecordedRequest;
}
