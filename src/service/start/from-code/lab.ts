import { createLab, type Lab, PetstoreError } from '../../../client/index.ts';
import { type App, injectFetch } from '../../../http/inject-fetch.ts';
import { prefix } from '../../../http/target.ts';
import type { Report } from '../../../lab/checks/report-schema.ts';
import type { FaultName, ParametersOf } from '../../../lab/faults/list.ts';
import type { RecordedRequest } from '../../../lab/recordings/schema.ts';
import type { RehearsedFault } from '../../../lab/rehearsals/schema.ts';
import { type Control, StoppedError } from './control.ts';

/** A fault to perform, with its parameters. The guide "Rehearse failures" describes them. */
export type FaultPlan = {
  [Name in FaultName]: {
    fault: Name;
    /** The operationId of the only operation to perform it on, such as `placeOrder`. Default: every operation that it fits. */
    operation?: string;
    /** How many requests of an operation pass before the fault. Default: 0. Not for conditions. */
    after?: number;
    /** How often it is performed on requests of an operation. Default: 1. Not for conditions. */
    times?: number;
  } & ParametersOf<Name>;
}[FaultName];

export interface RehearseOptions {
  /** When it expires, by the clock of the store. Default: 600, for a recording 3,600; at most a day. */
  expiresInSeconds?: number;
  /** The key whose requests get the faults, or are recorded. Default: the key of the first workspace. */
  key?: string;
}

export interface RecordOptions extends RehearseOptions {
  /** The name of the recording. */
  name?: string;
}

/** Faults that a store performs for a key, until the rehearsal ends or expires, or the key starts another one. */
export interface Rehearsal extends AsyncDisposable {
  readonly id: string;
  /** How often a fault was performed; without a name, all faults together. For a condition: how many responses it changed. */
  performed(fault?: FaultName): Promise<number>;
  /** The faults in the given order, with how often each was performed and how often it still will be. */
  faults(): Promise<RehearsedFault[]>;
  /** Ends it. The counts can still be read. Does nothing if it has ended. */
  end(): Promise<void>;
}

/** The requests of a key and their responses, from the start of the recording to its end. */
export interface Recording extends AsyncDisposable {
  readonly id: string;
  /** The requests recorded so far, in the order in which they ended; 5,000 at most. */
  requests(): Promise<RecordedRequest[]>;
  /** The report card of the requests recorded so far. Read it when the client has ended. */
  report(): Promise<Report>;
  /** The report card as Markdown for people, or as JUnit for CI systems. */
  report(form: 'markdown' | 'junit'): Promise<string>;
  /** Ends it. The requests can still be read. Does nothing if it has ended. */
  end(): Promise<void>;
}

/** Calls the lab with a key. Throws StoppedError after a stop. */
type Ask = <T>(call: (lab: Lab) => Promise<T>) => Promise<T>;

/** Calls the lab of a store without a connection. New clients remember no limits, because the clock may have been moved. */
export const labOf =
  (control: Control, app: App, key: string): Ask =>
  (call) =>
    control.call(() => {
      const baseUrl = `http://localhost${prefix}`;
      return call(createLab({ baseUrl, apiKey: key, attempts: 1, fetch: injectFetch(app) }));
    });

/** Starts a rehearsal. Rejects with a message that names the invalid fault. */
export async function rehearse(
  ask: Ask,
  faults: readonly FaultPlan[],
  expiresInSeconds: number | undefined,
): Promise<Rehearsal> {
  const plan = { faults, expiresInSeconds } as unknown as Parameters<Lab['startRehearsal']>[0];
  const { id } = await ask((lab) => lab.startRehearsal(plan));
  const read = async () => (await ask((lab) => lab.getRehearsal(id))).faults as RehearsedFault[];
  const end = () => unlessGone(ask((lab) => lab.endRehearsal(id)));
  return {
    id,
    faults: read,
    async performed(name) {
      const counted = (await read()).filter(({ fault }) => name === undefined || fault === name);
      return counted.reduce((sum, { performed }) => sum + performed, 0);
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}

/** Starts a recording. */
export async function record(ask: Ask, options: Omit<RecordOptions, 'key'>): Promise<Recording> {
  const { id } = await ask((lab) => lab.startRecording(options));
  const end = () => unlessGone(ask((lab) => lab.endRecording(id)));
  const report = (form?: 'markdown' | 'junit') =>
    ask((lab): Promise<unknown> => {
      if (form === undefined) return lab.getReport(id);
      if (form === 'markdown') return lab.getReportAsMarkdown(id);
      if (form === 'junit') return lab.getReportAsJunit(id);
      throw new TypeError(`A report comes as 'markdown' or 'junit', not as ${JSON.stringify(form)}.`);
    });
  return {
    id,
    requests: () => ask((lab) => Array.fromAsync(lab.listRecordedRequests(id))) as Promise<RecordedRequest[]>,
    report: report as Recording['report'],
    end,
    [Symbol.asyncDispose]: end,
  };
}

/** Ends a rehearsal or a recording, unless a reset or a stop has already removed it. */
async function unlessGone(ending: Promise<unknown>): Promise<void> {
  try {
    await ending;
  } catch (error) {
    const isGone = error instanceof StoppedError || (error instanceof PetstoreError && error.status === 404);
    if (!isGone) throw error;
  }
}
