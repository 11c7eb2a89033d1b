import { type AddressInfo, connect, type Socket } from 'node:net';
import { basename } from 'node:path';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { createKey } from '../../src/access/keys/store.ts';
import type { Limiter } from '../../src/access/limits/limiter.ts';
import { LocalLimiter } from '../../src/access/limits/local-limiter.ts';
import { SharedLimiter, type ShareOptions } from '../../src/access/limits/shared-limiter.ts';
import type { AccountsConfig } from '../../src/accounts/member-activity.ts';
import type { Database, Transaction } from '../../src/db/database.ts';
import { type LogLevel, readConfig } from '../../src/foundation/settings/config.ts';
import type { Plan, Quota } from '../../src/foundation/settings/plans.ts';
import { InstallationKey } from '../../src/foundation/settings/secret-key.ts';
import { defaultTimeLimits, type TimeLimits } from '../../src/http/connections.ts';
import type { Handled, Installation } from '../../src/http/operation.ts';
import { recorderBounds } from '../../src/lab/lab-bounds.ts';
import type { RecorderBounds } from '../../src/lab/recordings/recorder.ts';
import type { ReportJobRunner } from '../../src/lab/report-jobs/report-jobs.ts';
import { createLogger } from '../../src/observe/log/logger.ts';
import { buildApp } from '../../src/service/app.ts';
import { seedWorkspace } from '../../src/store/demo/seed.ts';
import { ChangeNotifier } from '../../src/store/history/record.ts';
import type { Dispatcher } from '../../src/store/webhooks/dispatcher.ts';
import { newDeliveryCounts } from '../../src/store/webhooks/retry-policy.ts';
import { type TargetPolicy, targetProblem } from '../../src/store/webhooks/target-policy.ts';
import { createWorkspace } from '../../src/store/workspaces/store.ts';
import { contentOf } from './content.ts';
import { type Answer, assertAsDescribed, baseUrl, isJson } from './description.ts';
import type { Lifetime } from './folder.ts';
import { sharedReadingWorker } from './report-job-worker.ts';
import { openTestStorage, temporaryStorage } from './storage.ts';

export interface CallOptions {
  key?: string | null;
  /** Sent as JSON. A string or bytes are sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface JsonAnswer extends Answer {
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies whose shape the description has checked
  body: any;
}

/** More than any test sends. */
export const ample: Quota = { perMinute: 1_000_000, perDay: 10_000_000 };

export interface StoreSetup {
  seed?: boolean;
  trustProxy?: string[] | boolean;
  hasDraftLimits?: boolean;
  enforceSunset?: boolean;
  /** Whether there is a lab. Default: true. */
  lab?: boolean;
  accounts?: Partial<AccountsConfig>;
  baseUrl?: string;
  logLevel?: LogLevel;
  /** Whether other instances serve the same keys. */
  hasOthers?: boolean;
  recorderBounds?: Partial<RecorderBounds>;
  /** The reader of recordings. Default: a thread that the stores of a file share, with its cache. */
  reportJobWorker?: ReportJobRunner;
  /** The operations to serve. Default: all. */
  operations?: readonly Handled[];
  timeLimits?: Partial<TimeLimits>;
  /** How long `/readyz` waits for the storage. */
  readyMs?: number;
  /** Shares limits through this server or cluster. Default: the one of the test run. */
  valkey?: ShareOptions;
}

/** Receivers of tests are on this machine. */
export const testPolicy: TargetPolicy = {
  allowLoopback: true,
  ownHosts: ['petstore.example.com'],
  ownPorts: [8080],
};

const valkeyOfRun = process.env.PETSTORE_TEST_VALKEY_URL;
/** Long, since a test's machine may be busy. */
const patienceMs = 5_000;

/** A petstore with its own real database, until the end of a test, or of a test file if it gets the `after` of the file. */
export async function startPetstore(t: Lifetime, options: StoreSetup = {}): Promise<Petstore> {
  const folder = await temporaryStorage(t);
  const petstore = new Petstore(await openTestStorage(folder), folder, options);
  t.after(() => petstore.close());
  await petstore.ready;
  petstore.key = (await petstore.addWorkspace('first', options.seed ?? true)).key;
  return petstore;
}

/** The same, which listens on a port. */
export async function startListening(t: Lifetime, options: StoreSetup = {}): Promise<Petstore> {
  const petstore = await startPetstore(t, options);
  await petstore.listen();
  return petstore;
}

export class Petstore {
  readonly db: Database;
  readonly folder: string;
  readonly app: FastifyInstance;
  readonly local: LocalLimiter;
  readonly limiter: Limiter;
  /** Resolves when limits are shared, if they should be. */
  readonly ready: Promise<void>;
  readonly log: string[] = [];
  readonly changes = new ChangeNotifier();
  /** The sender to webhooks. Without a test that starts it, nothing is sent. Metrics are those of the first. */
  readonly dispatchers: Dispatcher[] = [];
  readonly installation: Installation = {
    key: new InstallationKey('a key of an installation for tests'),
    targetProblem: (url) => targetProblem(url, testPolicy),
  };
  nowMs = Date.parse('2026-06-01T12:00:00Z');
  /** The monotonic clock: the real one, unless a test is about the time between its requests. */
  stopwatch = () => performance.now();
  /** How far the service's stopwatch is ahead of this one. */
  aheadMs = 0;
  key = '';

  constructor(db: Database, folder: string, options: StoreSetup = {}) {
    this.db = db;
    this.folder = folder;
    const log = createLogger(options.logLevel ?? 'info', { write: (line) => this.log.push(line) });
    const clock = () => this.nowMs;
    const config = {
      ...readConfig({}),
      baseUrl: options.baseUrl ?? baseUrl,
      trustProxy: options.trustProxy ?? false,
      hasDraftLimits: options.hasDraftLimits ?? true,
      enforceSunset: options.enforceSunset ?? false,
      lab: options.lab ?? true,
      ...options.accounts,
    };
    this.local = new LocalLimiter(db, clock, log);
    const valkey = options.valkey ?? valkeyOf(folder, clock);
    const shared = valkey && new SharedLimiter(this.local, valkey, log);
    this.limiter = shared ?? this.local;
    this.ready = shared?.start() ?? Promise.resolve();
    const { limiter, installation, changes, dispatchers } = this;
    const dispatcher = {
      get counts() {
        return dispatchers[0]?.counts ?? newDeliveryCounts();
      },
      get lag() {
        return dispatchers[0]?.lag ?? 0;
      },
    };
    this.app = buildApp({
      ...{ config, db, limiter, log, installation, dispatcher, changes, clock },
      stopwatch: () => this.stopwatch() + this.aheadMs,
      operations: options.operations,
      timeLimits: { ...defaultTimeLimits, ...options.timeLimits },
      readyMs: options.readyMs,
      reportJobWorker: options.reportJobWorker ?? sharedReadingWorker,
      ...(options.hasOthers && { hasOthers: true }),
      recorderBounds: { ...recorderBounds, ...options.recorderBounds },
    });
  }

  /** Runs `work` in a transaction that records its changes in a workspace, by default the first. */
  change<T>(work: (sql: Transaction) => Promise<T>, workspaceId: number | undefined = 1): Promise<T> {
    return this.db.write(work, { atMs: this.nowMs, workspaceId });
  }

  /** Another workspace with a key. */
  addWorkspace(name: string, seed: boolean): Promise<{ key: string; keyId: string; workspaceId: number }> {
    return this.change(async (sql) => {
      const { id: workspaceId } = await createWorkspace(sql, name, this.nowMs);
      if (seed) await seedWorkspace(sql, workspaceId);
      const { id: keyId, key } = await createKey(
        sql,
        { workspaceId, plan: 'enterprise', quota: ample },
        this.nowMs,
      );
      return { key, keyId, workspaceId };
    });
  }

  /** Another key to the first workspace. */
  addKey(plan: Plan, quota?: Quota): Promise<{ key: string; id: string }> {
    return this.db.write((sql) =>
      createKey(sql, { workspaceId: 1, plan, ...(quota && { quota }) }, this.nowMs),
    );
  }

  /** Sends a request below `/v1` and checks the response against the description. */
  call(method: string, path: string, options: CallOptions = {}): Promise<JsonAnswer> {
    return this.send(method, `/v1${path}`, options);
  }

  /** Sends a request to any path and checks the response against the description. */
  async send(method: string, url: string, options: CallOptions = {}): Promise<JsonAnswer> {
    const { headers, payload } = requestOf(options, this.key);
    await this.ready;
    const response = await this.app.inject({ method, url, headers, payload } as InjectOptions);
    const answer = {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      text: response.body,
    };
    assertAsDescribed(method, url, answer);
    return withBody(answer);
  }

  /** The current metrics, which the service builds again once a second. */
  async metrics(): Promise<string> {
    this.aheadMs += 1_000;
    return (await this.send('GET', '/metrics', { key: null })).text;
  }

  /** Saves the counts of limits, twice, since a save in progress may lack the last counts. */
  async saveLimits(): Promise<void> {
    await this.local.save();
    await this.local.save();
  }

  /** Saves the counts of limits, and none from then on, so that a test can count other writes. */
  async holdLimits(): Promise<void> {
    await this.saveLimits();
    this.local.save = async () => {};
  }

  /** All stored rows of the workspaces, to see whether something changed. */
  content(): Promise<string> {
    return contentOf(this.db.read);
  }

  /** The address of the service on a real socket. */
  async listen(port = 0): Promise<string> {
    await this.ready;
    return this.app.listen({ port, host: '127.0.0.1' });
  }

  get port(): number {
    return (this.app.server.address() as AddressInfo).port;
  }

  /** A connection that ignores errors, and may stay half open. It sends `text`. */
  connect(text = ''): Socket {
    const socket = connect({ port: this.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    if (text) socket.write(text);
    return socket;
  }

  async close(): Promise<void> {
    await Promise.all([this.app.close(), ...this.dispatchers.map((dispatcher) => dispatcher.stop())]);
    await this.limiter.close();
    await this.db.close();
  }
}

/** Accounts of one test, also of addresses, are separate from those of another. */
function valkeyOf(folder: string, clock: () => number): ShareOptions | undefined {
  if (!valkeyOfRun) return undefined;
  const prefix = `${basename(folder)}:`;
  return { urls: valkeyOfRun.split(','), timeoutMs: patienceMs, connectWithinMs: patienceMs, prefix, clock };
}

/** Headers and payload of a request. */
export function requestOf({ key, body, headers = {} }: CallOptions, defaultKey: string) {
  const payload =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array
      ? body
      : JSON.stringify(body);
  return {
    headers: {
      ...(key !== null && { authorization: `Bearer ${key ?? defaultKey}` }),
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    } as Record<string, string>,
    payload,
  };
}

function withBody(answer: Answer): JsonAnswer {
  return { ...answer, body: isJson(answer) && answer.text !== '' ? JSON.parse(answer.text) : undefined };
}

/** Sends a request below `start` over a real socket and checks the response against the description. */
export async function fetchChecked(
  origin: string,
  method: string,
  path: string,
  { start = '/v1', ...options }: CallOptions & { key: string; start?: string },
): Promise<JsonAnswer> {
  const { headers, payload } = requestOf(options, options.key);
  const response = await fetch(`${origin}${start}${path}`, {
    method,
    headers,
    ...(payload !== undefined && { body: payload }),
  });
  const answer = {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  };
  assertAsDescribed(method, `${start}${path}`, answer);
  return withBody(answer);
}
