import { createIdentify } from '../access/keys/identify.ts';
import { callerFinder, type FindCaller } from '../access/keys/store.ts';
import { howToGetMore } from '../access/limits/headers.ts';
import type { Limiter } from '../access/limits/limiter.ts';
import { type AccountsConfig, MemberActivity } from '../accounts/member-activity.ts';
import { accountsOperations } from '../accounts/operations.ts';
import { type Admission, planAccount } from '../api/admission.ts';
import { operations as allOperations } from '../api/operations.ts';
import type { Database } from '../db/database.ts';
import type { Config } from '../foundation/settings/config.ts';
import { currentTracer } from '../foundation/tracing.ts';
import { defaultTimeLimits, type TimeLimits } from '../http/connections.ts';
import type { Handled, Installation } from '../http/operation.ts';
import { faultNames } from '../lab/faults/list.ts';
import { bindingColumns } from '../lab/key-binding.ts';
import { Lab, labAccount } from '../lab/lab.ts';
import { recorderBounds } from '../lab/lab-bounds.ts';
import { labOperations, petstoreApi, reportThread } from '../lab/petstore/petstore-api.ts';
import type { RecorderBounds } from '../lab/recordings/recorder.ts';
import { type ReportJobRunner, ReportJobWorker } from '../lab/report-jobs/report-jobs.ts';
import { mcpAccount } from '../mcp/serve-mcp.ts';
import { DeprecatedCalls } from '../observe/deprecation.ts';
import type { Log } from '../observe/log/logger.ts';
import { RequestLog } from '../observe/log/requests.ts';
import { Metrics } from '../observe/metrics.ts';
import { OutcomeReporter, type RequestOutcome } from '../observe/request-outcome.ts';
import { endSpan } from '../observe/traces.ts';
import { OpenStreams } from '../store/events/open-streams.ts';
import { ChangeNotifier } from '../store/history/record.ts';
import type { Dispatcher } from '../store/webhooks/dispatcher.ts';
import { healthPaths, Readiness } from './health.ts';

/** What an app is made of. */
export interface AppOptions {
  config: Pick<Config, 'baseUrl' | 'trustProxy' | 'enforceSunset'> & AccountsConfig;
  db: Database;
  limiter: Limiter;
  log: Log;
  installation: Installation;
  /** The sender of webhooks, for the metrics. */
  dispatcher?: Pick<Dispatcher, 'counts' | 'lag'> | undefined;
  /** Is notified of each change of a workspace. */
  changes?: ChangeNotifier;
  /** The operations to serve. Default: all. */
  operations?: readonly Handled[] | undefined;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Milliseconds of a clock that never goes back. */
  stopwatch?: () => number;
  /** For recordings: runs at the same speed as the clock, in milliseconds with fractions. Default: the stopwatch. */
  clockStopwatch?: () => number;
  /** The number of log lines that were dropped because nobody read them. */
  unreadLines?: () => number;
  timeLimits?: TimeLimits;
  /** How long `/readyz` waits for the storage, in milliseconds. Default: 2 s, because load balancers do not wait longer. */
  readyMs?: number | undefined;
  /** Responds to the challenge of a command that looks for this service. */
  prove?: ((challenge: unknown) => string | undefined) | undefined;
  /** Whether other instances may serve the same keys. */
  hasOthers?: boolean;
  /** Whether the storage is not open yet: everything but `/healthz` gets 503. */
  isWaiting?: boolean;
  recorderBounds?: RecorderBounds;
  /** The thread that reads recordings. Default: one of this app. */
  reportJobWorker?: ReportJobRunner | undefined;
}

export const withDefaults = (options: AppOptions) => ({
  ...options,
  changes: options.changes ?? new ChangeNotifier(),
  operations: options.operations ?? allOperations,
  stopwatch: options.stopwatch ?? (() => performance.now()),
  timeLimits: options.timeLimits ?? defaultTimeLimits,
  hasOthers: options.hasOthers ?? false,
});

export type CompleteOptions = ReturnType<typeof withDefaults>;
export type Components = ReturnType<typeof createComponents>;

/** All apps of a process share it, since its statement is prepared once. */
const findCaller = callerFinder([...bindingColumns, 'origin']);

/** Creates the objects that the steps of a request share: admission, streams, the lab, and the observers of each outcome. */
export function createComponents(options: CompleteOptions) {
  const { config, db, limiter, log, clock, stopwatch, changes, dispatcher, operations } = options;
  const deprecatedCalls = new DeprecatedCalls(log, clock);
  const requestLog = new RequestLog(log);
  const readiness = new Readiness(db, stopwatch, options.readyMs);
  const accounts = new MemberActivity({ db, log, clock });
  const metrics = new Metrics({
    operations: [...operations, ...(config.lab ? labOperations : []), ...accountsOperations],
    faults: config.lab ? faultNames : [],
    db,
    isReady: () => readiness.holds(),
    deprecated: deprecatedCalls,
    missingLines: () => ({ repeated: requestLog.dropped, unread: options.unreadLines?.() ?? 0 }),
    openStreams: () => streams.count,
    sharing: limiter.sharing,
    accounts,
    deliveries: dispatcher,
  });
  const outcomes = new OutcomeReporter([
    (outcome) => {
      if (!isHealthCheck(outcome)) metrics.countAnswer(outcome);
    },
    (outcome) => deprecatedCalls.note(outcome),
    (outcome) => requestLog.answered(outcome),
    (outcome) => lab?.observe(outcome),
    (outcome) => accounts.note(outcome),
    ...(currentTracer() ? [endSpan] : []),
  ]);
  const lab = config.lab ? createLab(options, outcomes) : undefined;
  const streams = new OpenStreams({
    ...{ db, changes, limiter, log, clock, stopwatch },
    left: (...args) => outcomes.clientDisconnected(...args),
  });
  const findUsing: FindCaller = async (...args) => {
    const caller = await findCaller(...args);
    return caller && (await accounts.storeUse(caller)) ? caller : undefined;
  };
  const identify = createIdentify(db, limiter, findUsing, clock);
  const admission: Admission = {
    ...{ limiter, accountOf: planAccount, metrics },
    ...{ hasDraftLimits: config.hasDraftLimits, howToGetMore: howToGetMore(config.contact) },
    identify: (request) => identify(lab?.asIdentified(request) ?? request),
    banBegan: (request, decision) => lab?.banBegan(request, decision),
  };
  // No plan has other limits for these.
  const apart = { ...admission, identify, howToGetMore: '' };
  const labAdmission: Admission = { ...apart, accountOf: labAccount };
  const mcpAdmission: Admission = { ...apart, accountOf: mcpAccount };
  const admissions = { admission, labAdmission, mcpAdmission };
  return { identify, ...admissions, lab, accounts, streams, readiness, metrics, requestLog, outcomes };
}

/** Polled several times a second. If counted, an idle service would seem busy, and alerts on 503 would react to `/readyz`. */
const isHealthCheck = ({ operation, exchange }: RequestOutcome) =>
  !operation && healthPaths.includes(exchange?.request.routeOptions.url ?? '');

function createLab(options: CompleteOptions, outcomes: OutcomeReporter): Lab {
  const { config, db, log, clock, operations, clockStopwatch = options.stopwatch } = options;
  const { baseUrl, hasDraftLimits } = config;
  const recorder = {
    ...{ db, log, clock, stopwatch: clockStopwatch, bounds: options.recorderBounds ?? recorderBounds },
    isBehindProxy: config.trustProxy !== false,
    labPageToken: options.installation.key.labPageToken,
  };
  return new Lab(
    {
      ...{ db, baseUrl, clock, hasDraftLimits, howToGetMore: howToGetMore(config.contact) },
      api: { ...petstoreApi, operations },
    },
    recorder,
    (...args) => outcomes.cutOff(...args),
    options.reportJobWorker ?? new ReportJobWorker(reportThread),
  );
}
