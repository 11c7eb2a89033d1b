import { setTimeout as sleep } from 'node:timers/promises';
import { clientKeyVariable, settings } from '../config.ts';
import { dayInSeconds } from '../lab/bounds.ts';
import type { RecordedRequest, Recording } from '../lab/recordings/schema.ts';
import type { Fault } from '../lab/rehearsals/fault.ts';
import { largeIds } from '../lab/rehearsals/faults/large-ids.ts';
import { conflict } from '../lab/rehearsals/faults/other-writer.ts';
import { nearLimit } from '../lab/rehearsals/faults/refusals.ts';
import type { Rehearsal } from '../lab/rehearsals/schema.ts';
import type { CheckResult, Report } from '../lab/report/report.ts';
import { LabService } from '../lab-service.ts';
import type { FaultPlan } from './plan.ts';
import { type Ended, runProgram } from './program.ts';
import { readOtherChanges, readState, withMeantIdsIn } from './state/read.ts';
import type { OtherChange, StoreState } from './state/state.ts';
import type { Grading, GradingStore } from './store.ts';

export interface RunOptions {
  store: GradingStore;
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  /** What the program is to meet; nothing if absent. */
  plan?: Pick<FaultPlan, 'faults' | 'lingersMs'>;
  timeLimitMs: number;
  signal: AbortSignal;
  onOutput?: ((text: string) => void) | undefined;
}

/** What a run of the program left. */
export interface Run extends Ended {
  /** The first of them, in the order in which they came. */
  requests: RecordedRequest[];
  /** How many there were. */
  requestCount: number;
  /** The operations that it used, in the order of their first use. */
  operations: string[];
  checks: CheckResult[];
  state: StoreState;
  /** How often its faults were performed. */
  performed: number;
  /** What the other writer of its faults changed. */
  others: OtherChange[];
}

/** Requests that are kept of a run. */
const maxRequests = 1_000;

/** What a workspace holds before the program runs. */
export async function initialState(store: GradingStore, signal: AbortSignal): Promise<StoreState> {
  signal.throwIfAborted();
  const grading = await store.addWorkspace();
  try {
    return await readState({ ...grading, signal });
  } finally {
    await store.removeWorkspace(grading.workspace);
  }
}

/** Runs the program once in a fresh workspace, which is removed afterwards. */
export async function runOnce(options: RunOptions): Promise<Run> {
  options.signal.throwIfAborted();
  const grading = await options.store.addWorkspace();
  try {
    return await runIn({ ...grading, signal: options.signal }, options);
  } finally {
    await options.store.removeWorkspace(grading.workspace);
  }
}

async function runIn(
  grading: Grading,
  { command, env, plan, timeLimitMs, ...rest }: RunOptions,
): Promise<Run> {
  const lab = new LabService(grading);
  const expiresInSeconds = Math.min(dayInSeconds, Math.ceil(timeLimitMs / 1_000) + afterwardsSeconds);
  const recording = await lab.json<Recording>('POST', '/recordings', { expiresInSeconds });
  const path = `/recordings/${recording.id}`;
  const rehearsal =
    plan && (await lab.json<Rehearsal>('POST', '/rehearsals', { faults: plan.faults, expiresInSeconds }));
  const ended = await runProgram({
    ...{ command, timeLimitMs, signal: rest.signal, onOutput: rest.onOutput },
    env: { ...env, [settings.baseUrl.variable]: grading.baseUrl, [clientKeyVariable]: grading.key },
  });
  await sleep(plan?.lingersMs ?? 0, undefined, { signal: rest.signal });
  await settled(lab, path);
  const rehearsed = rehearsal && (await lab.json<Rehearsal>('DELETE', `/rehearsals/${rehearsal.id}`));
  const { requests: kept, leftOut } = await lab.json<Recording>('POST', `${path}/end`);
  const { checks } = await lab.json<Report>('GET', `${path}/report`);
  const state = await readState(grading);
  const sent = await sentIn(lab, path);
  return {
    ...ended,
    ...sent,
    requestCount: kept + leftOut,
    checks,
    state: has(plan, largeIds) ? withMeantIdsIn(state) : state,
    performed: has(plan, nearLimit)
      ? sent.requests.filter(isAtLimit).length
      : (rehearsed?.faults.reduce((sum, { performed }) => sum + performed, 0) ?? 0),
    others: rehearsal && has(plan, conflict) ? await readOtherChanges(grading, rehearsal.id) : [],
  };
}

const has = (plan: RunOptions['plan'], { name }: Fault) => plan?.faults.some(({ fault }) => fault === name);

/** Whether its answer says that nothing is left of a limit. One that is near, and is not met, asks nothing of a program. */
const isAtLimit = ({ answerHeaders }: RecordedRequest) => answerHeaders['x-ratelimit-remaining'] === '0';

/** Rehearsals and recordings outlive the program by so much at least. */
const afterwardsSeconds = 600;
const settlingMs = 100;
const maxSettlings = 50;

/** Waits until requests that the program left running are done. */
async function settled(lab: LabService, path: string): Promise<void> {
  let last = -1;
  for (let count = 0; count < maxSettlings; count++) {
    const { requests, leftOut } = await lab.json<Recording>('GET', path);
    if (requests + leftOut === last) return;
    last = requests + leftOut;
    await sleep(settlingMs);
  }
}

/** The requests of a recording, without their bodies, and the operations that they used. */
async function sentIn(lab: LabService, path: string): Promise<Pick<Run, 'requests' | 'operations'>> {
  const requests: RecordedRequest[] = [];
  const firstUses = new Map<string, string>();
  for await (const page of lab.pages<RecordedRequest>(`${path}/requests`)) {
    for (const { body: _, ...request } of page) {
      if (requests.length < maxRequests) requests.push(request);
      const { operation, at } = request;
      if (operation && at < (firstUses.get(operation) ?? later)) firstUses.set(operation, at);
    }
  }
  const order = ([, a]: [string, string], [, b]: [string, string]) => Date.parse(a) - Date.parse(b);
  return {
    requests: requests.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || Number(a.id) - Number(b.id)),
    operations: [...firstUses].sort(order).map(([operation]) => operation),
  };
}

/** After each time that is written as they all are. */
const later = 'Z';
