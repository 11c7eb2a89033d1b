import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Decision } from '../access/limits/decision.ts';
import type { Admission } from '../api/admission.ts';
import { isPassedOn } from '../http/headers.ts';
import { isForPlan, unknownAlias } from '../http/target.ts';
import type { RequestOutcome } from '../observe/request-outcome.ts';
import { BanStarts } from './account/ban-starts.ts';
import type { AccountState } from './account/operations.ts';
import { ResetLimiter } from './account/reset-workspace.ts';
import { DelayQueue } from './faults/shared/delay-queue.ts';
import type { FaultServices } from './faults/shared/fault.ts';
import { OpenLinks } from './faults/shared/open-links.ts';
import { recordings, rehearsals } from './key-binding.ts';
import { labQuota, othersWriteMs } from './lab-bounds.ts';
import type { LabServices } from './operations.ts';
import { Recorder, type RecorderParts } from './recordings/recorder.ts';
import { type CutOff, RehearsalPerformer } from './rehearsals/perform-rehearsal.ts';
import { type ReportJobRunner, ReportJobs } from './report-jobs/report-jobs.ts';

/** What the lab does to requests of the API: rehearsals change them, recordings store them. */
export class Lab {
  readonly #rehearsals: RehearsalPerformer;
  readonly #delayQueue = new DelayQueue();
  readonly #openLinks = new OpenLinks();
  readonly #recorder: Recorder;
  readonly #banStarts: BanStarts;
  readonly #reportJobs: ReportJobs;

  constructor(
    services: Omit<FaultServices, 'delayQueue' | 'openLinks' | 'isPassedOn' | 'log'>,
    parts: RecorderParts,
    cutOff: CutOff,
    reportJobWorker: ReportJobRunner,
  ) {
    this.#rehearsals = new RehearsalPerformer(
      {
        ...services,
        log: parts.log,
        delayQueue: this.#delayQueue,
        openLinks: this.#openLinks,
        isPassedOn: (request) => parts.isBehindProxy || isPassedOn(request),
      },
      cutOff,
    );
    this.#recorder = new Recorder(parts);
    this.#banStarts = new BanStarts(parts.db, parts.log);
    this.#reportJobs = new ReportJobs(parts.db, reportJobWorker);
  }

  /** Performs the rehearsal, if any, on an admitted request. Resolves to whether it continues, or rejects with the error to return. */
  intercept(request: FastifyRequest, reply: FastifyReply): Promise<boolean> | undefined {
    this.#recorder.watch(request, reply);
    if (!request.operation) return undefined;
    if (rehearsals.of(request.caller) === undefined) {
      if (request.raw.alias !== undefined) throw unknownAlias();
      return undefined;
    }
    return this.#rehearsals.perform(request, reply);
  }

  /** The request with the key of its caller: a request that was redirected to another origin needs no key. */
  asIdentified(request: FastifyRequest): FastifyRequest {
    return this.#openLinks.withKey(request);
  }

  /** Records a request with its response if its key has a recording. */
  observe(facts: RequestOutcome): void {
    if (recordings.of(facts.sender) === undefined) return;
    const request = facts.exchange?.request ?? facts.unread ?? {};
    if (isForPlan(request)) this.#recorder.observe(facts);
  }

  /** Stores the request that started a ban of its key. */
  banBegan(request: FastifyRequest, decision: Decision): void {
    this.#banStarts.note(request, decision);
  }

  /** Waits until the request that started the ban of a key is stored, if this instance banned it. */
  waitUntilBanStartKnown(keyId: string): Promise<void> {
    return this.#banStarts.settled(keyId);
  }

  /** What operations of the lab need. `hasOthers`: whether other instances may record the same keys. */
  services(state: AccountState, stopwatch: () => number, hasOthers: boolean): LabServices {
    const waitUntilRecorded = (keyId: string) => this.#recorder.settled(keyId);
    return {
      ...state,
      waitUntilRecorded,
      waitUntilRecordedByAll: async (keyId) => {
        await Promise.all([waitUntilRecorded(keyId), hasOthers && sleep(othersWriteMs)]);
      },
      waitUntilBanStartKnown: (keyId) => this.waitUntilBanStartKnown(keyId),
      resets: new ResetLimiter(stopwatch),
      reportJobs: this.#reportJobs,
    };
  }

  /** Releases all delayed responses, and delays none from now on. */
  release(): void {
    this.#delayQueue.stop();
  }

  /** Writes what waits to be written. */
  async close(): Promise<void> {
    await Promise.all([this.#recorder.close(), this.#banStarts.close(), this.#reportJobs.close()]);
  }
}

/** Requests to the lab have limits of their own, and are never banned. */
export const labAccount: Admission['accountOf'] = ({ workspaceId, keyId }) => ({
  subject: { workspaceId, id: `lab ${keyId}` },
  policy: { quota: labQuota },
});
