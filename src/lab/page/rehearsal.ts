import type { LabTypes } from '../../client/index.ts';
import { reasonOf } from './api.ts';
import {
  blamed,
  type CatalogueFault,
  type FaultInPlan,
  type FaultWithCounts,
  plannedAgain,
  type RehearsalRun,
} from './fault-plan.ts';
import { type Session, SessionState } from './session.ts';

/** The shortest time between two reads of the counts of performed faults. */
const readEveryMs = 1_900;

/** Makes the next plan of faults from the one before. */
export type PlanChange = (plan: readonly FaultInPlan[]) => readonly FaultInPlan[];

/** Why a change was refused, and because of which fault, if the service names it. */
interface Refusal {
  reason: string;
  fault: string | undefined;
}

/** The rehearsal of the key, started by anyone. */
export class RehearsalState extends SessionState {
  catalogue: readonly CatalogueFault[] = [];
  shown: RehearsalRun | undefined;
  /** The rehearsal that the page itself changed last. */
  ownId: string | undefined;
  /** Why it could not be read. */
  failure = '';
  #wanted: readonly PlanChange[] = [];
  #expiresInSeconds = 0;
  /** The last request, and the next one, which waits for it. */
  #sending: Promise<unknown> = Promise.resolve();
  #next: Promise<Refusal | undefined> | undefined;
  /** Identifies the state of the last read: the number of the page's own changes, and the active rehearsal. */
  #readSince = '';
  #readAtMs = 0;
  #isReading = false;
  /** How often the page itself changed it. A read that began before the last change is dropped. */
  #changes = 0;

  constructor(session: Session) {
    super(session);
    session.onChange(() => void this.#follow());
  }

  get isActive(): boolean {
    return this.shown !== undefined && this.#isActive(this.shown);
  }

  get active(): readonly FaultWithCounts[] {
    return this.isActive ? (this.shown?.faults ?? []) : [];
  }

  /** The faults that are on, or will be on after the next response. */
  get plan(): readonly FaultInPlan[] {
    return this.#planAfter(this.#wanted);
  }

  /** Changes the faults and starts a rehearsal that lasts `expiresInSeconds`. Changes that wait for one answer are sent together. */
  perform(change: PlanChange, expiresInSeconds: number): Promise<Refusal | undefined> {
    this.#wanted = [...this.#wanted, change];
    this.#expiresInSeconds = expiresInSeconds;
    this.changed();
    this.#next ??= this.#sending.then(() => this.#send());
    this.#sending = this.#next;
    return this.#next;
  }

  #planAfter(changes: readonly PlanChange[]): readonly FaultInPlan[] {
    const plan = this.active.map((fault) => plannedAgain(fault, this.catalogue));
    return changes.reduce<readonly FaultInPlan[]>((before, change) => change(before), plan);
  }

  async #send(): Promise<Refusal | undefined> {
    const sent = this.#wanted;
    this.#next = undefined;
    let plan: readonly FaultInPlan[] = [];
    let refusal: Refusal | undefined;
    try {
      // Another tab or a command may have changed it.
      await this.#read();
      plan = this.#planAfter(sent);
      const run = await this.#put(plan);
      this.#changes++;
      this.shown = run ?? this.shown;
      this.ownId = this.shown?.id;
    } catch (error) {
      const reason = reasonOf(error);
      refusal = { reason, fault: blamed(reason, plan) };
    }
    this.#wanted = this.#wanted.slice(sent.length);
    this.changed();
    void this.session.refresh();
    return refusal;
  }

  async #put(plan: readonly FaultInPlan[]): Promise<RehearsalRun | undefined> {
    const body = { faults: plan as LabTypes.PlannedFault[], expiresInSeconds: this.#expiresInSeconds };
    if (plan.length > 0) return (await this.session.lab.startRehearsal(body)) as RehearsalRun;
    if (!this.shown || !this.isActive) return undefined;
    return (await this.session.lab.endRehearsal(this.shown.id)) as RehearsalRun;
  }

  /** Reads the rehearsal after each reading of the account, if it may have changed. */
  async #follow(): Promise<void> {
    const { account, connection } = this.session;
    if (!account || connection !== 'live' || this.#isReading) return;
    const id = account.rehearsal?.id;
    const isDue = id !== undefined && performance.now() - this.#readAtMs >= readEveryMs;
    const since = `${this.#changes} ${id}`;
    if (since === this.#readSince && !isDue) return;
    this.#isReading = true;
    this.#readAtMs = performance.now();
    try {
      await Promise.all([this.#read(), this.#readCatalogue()]);
      this.#readSince = since;
      this.failure = '';
    } catch (error) {
      this.failure = reasonOf(error);
    }
    this.#isReading = false;
    this.changed();
  }

  async #read(): Promise<void> {
    const changes = this.#changes;
    const runs = (await this.session.lab.listRehearsals()) as RehearsalRun[];
    if (changes !== this.#changes) return;
    // With a stopped clock several rehearsals have the same time, so the list has no order.
    const same = runs.find(({ id }) => id === this.shown?.id);
    this.shown = runs.find((run) => this.#isActive(run)) ?? same ?? runs[0];
  }

  async #readCatalogue(): Promise<void> {
    if (this.catalogue.length === 0) this.catalogue = await this.session.lab.listFaults();
  }

  #isActive({ endedAt, expiresAt }: RehearsalRun): boolean {
    return !endedAt && Date.parse(expiresAt) > this.session.nowMs();
  }
}
