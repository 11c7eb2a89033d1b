import { setTimeout as sleep } from 'node:timers/promises';
import { type Lab, type LabTypes, type List, type Petstore, PetstoreError } from '../../client/index.ts';
import { clientKeyVariable, settings } from '../../foundation/settings/config.ts';
import { conflict } from '../../lab/faults/conflict.ts';
import { largeIds, replaceLargeIds } from '../../lab/faults/large-ids.ts';
import { nearLimit } from '../../lab/faults/near-limit.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { maxLifeSeconds } from '../../lab/lab-bounds.ts';
import type { RecordedRequest } from '../../lab/recordings/schema.ts';
import { clockToleranceMs } from '../../lab/recordings/timeline-layout.ts';
import { type Clients, type ServiceAccess, withService } from '../../service/start/running-service.ts';
import { type Printed, PrintedLines } from '../compare/printed-lines.ts';
import { lists, type StoreState } from '../compare/state.ts';
import { type StoreEvent, type StoreResult, storeResultOf } from '../compare/store-result.ts';
import { mapStrings } from '../grade.ts';
import type { GradingService } from '../grading-service.ts';
import { outputOf } from './command.ts';
import type { RunPlan } from './plan.ts';
import { type Ended, runProgram } from './program.ts';

export interface RunOptions {
  store: GradingService;
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  /** The state of a workspace before the program runs. */
  initial: StoreState;
  /** The faults of the run. Default: none. */
  plan?: Pick<RunPlan, 'faults' | 'lingersMs'>;
  timeLimitMs: number;
  /** A command that prints what the program left outside the store, and its time limit. */
  result?: { command: string; limitMs: number | undefined } | undefined;
  signal: AbortSignal;
  onOutput?: ((text: string) => void) | undefined;
}

/** A run of the program and its result. */
export interface Run extends Ended {
  /** In the order in which they arrived. */
  requests: RecordedRequest[];
  /** The number of all requests. A recording may store fewer. */
  requestCount: number;
  storeResult: StoreResult;
  printed: Printed;
  /** What the command of `result` printed. Nothing without one, or if the program failed. */
  result: Printed;
  /** How often its faults were performed. */
  performed: number;
}

/** The state of a workspace before the program runs. */
export function initialState(store: GradingService, signal: AbortSignal): Promise<StoreState> {
  signal.throwIfAborted();
  return store.inWorkspace((access) => withService({ ...access, signal }, ({ listAt }) => readState(listAt)));
}

/** Runs the program once, in a new workspace. */
export function runOnce(options: RunOptions): Promise<Run> {
  options.signal.throwIfAborted();
  return options.store.inWorkspace((access) => runIn(access, options));
}

async function runIn(
  access: ServiceAccess,
  { command, env, initial, plan, timeLimitMs, result, signal, onOutput }: RunOptions,
): Promise<Run> {
  const expiresInSeconds = Math.min(maxLifeSeconds, Math.ceil(timeLimitMs / 1_000) + afterwardsSeconds);
  return withService({ ...access, signal }, async ({ lab, store: api, listAt }) => {
    const { id } = await lab.startRecording({ expiresInSeconds });
    const faults = plan?.faults as LabTypes.NewRehearsal['faults'] | undefined;
    const rehearsal = faults && (await lab.startRehearsal({ faults, expiresInSeconds }));
    // The program may have written an id into a text, such as a name.
    const original = has(plan, largeIds) ? replaceLargeIds : (text: string) => text;
    const [printed, left] = [new PrintedLines(original), new PrintedLines(original)];
    const programEnv = {
      ...env,
      ...{ [settings.baseUrl.variable]: access.baseUrl, [clientKeyVariable]: access.key },
    };
    const ended = await runProgram({
      ...{ command, env: programEnv, timeLimitMs, signal, onOutput, printed },
    });
    await sleep(plan?.lingersMs ?? 0, undefined, { signal });
    if (result && ended.exitStatus === 0)
      left.end(await outputOf(result.command, { signal, env: programEnv, limitMs: result.limitMs }));
    await settled(lab, id);
    // Another fault may come before that of the run.
    const own = plan?.faults.at(-1)?.fault;
    const rehearsed = rehearsal && (await lab.endRehearsal(rehearsal.id));
    const { requests: kept, leftOut } = await lab.endRecording(id);
    const requests = await readRequests(lab, id);
    const found = [await readState(listAt), await readHistory(api)] as const;
    const [state, history] = has(plan, largeIds) ? mapStrings(found, original) : found;
    return {
      ...ended,
      ...{ requests, requestCount: kept + leftOut, printed, result: left },
      storeResult: storeResultOf(state, initial, history, has(plan, conflict) ? rehearsal?.id : undefined),
      performed: has(plan, nearLimit)
        ? requests.filter(isAtLimit).length
        : (rehearsed?.faults.reduce((sum, one) => sum + (one.fault === own ? one.performed : 0), 0) ?? 0),
    };
  });
}

const has = (plan: RunOptions['plan'], { name }: Fault) => plan?.faults.some(({ fault }) => fault === name);

/**
 * Whether a response says that no request is left for more than a second. If the reset is sooner, the next request may arrive
 * after it. A limit that is only near requires nothing.
 */
function isAtLimit({ at, durationMs, answerHeaders }: RecordedRequest): boolean {
  const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset } = answerHeaders;
  return remaining === '0' && Number(reset) * 1_000 - (Date.parse(at) + durationMs) > clockToleranceMs;
}

/** The minimum time that rehearsals and recordings stay active after the program has ended. */
const afterwardsSeconds = 600;
const settlingMs = 100;
const maxSettlings = 50;

/** Waits until requests that the program left in flight have been processed. */
async function settled(lab: Lab, recordingId: string): Promise<void> {
  let last = -1;
  for (let count = 0; count < maxSettlings; count++) {
    const { requests, leftOut } = await lab.getRecording(recordingId);
    if (requests + leftOut === last) return;
    last = requests + leftOut;
    await sleep(settlingMs);
  }
}

/** The requests of a recording, in the order in which they arrived. */
async function readRequests(lab: Lab, recordingId: string): Promise<RecordedRequest[]> {
  const requests = (await Array.fromAsync(lab.listRecordedRequests(recordingId))) as RecordedRequest[];
  return requests.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || Number(a.id) - Number(b.id));
}

/** Reads all lists of a workspace through the API. */
async function readState(listAt: Clients['listAt']): Promise<StoreState> {
  const items = lists.map(async ({ name, path }) => [name, await readAll(path, listAt(path))]);
  return Object.fromEntries(await Promise.all(items));
}

const readHistory = (store: Petstore): Promise<StoreEvent[]> =>
  readAll('/store/events', store.listEvents() as unknown as List<StoreEvent>);

async function readAll<Item>(path: string, list: List<Item>): Promise<Item[]> {
  try {
    return await Array.fromAsync(list);
  } catch (error) {
    if (!(error instanceof PetstoreError) || error.status === undefined) throw error;
    throw new Error(`The store cannot be read: GET ${path} returns ${error.status}.`, { cause: error });
  }
}
