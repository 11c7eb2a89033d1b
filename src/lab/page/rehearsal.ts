import type { LabTypes } from '../../client/index.ts';
import { blamed, type Fault, type PlannedFault, plannedAgain, type RehearsedFault } from './fault-plan.ts';
import { reasonOf, session } from './session.ts';
import type { Rehearsal } from './types.ts';

/** So often what was performed is read, as far as the account is read. */
const readEveryMs = 1_900;

/** What follows from a plan of faults. */
export type Change = (plan: readonly PlannedFault[]) => readonly PlannedFault[];

/** Why a change was not made, and because of which fault, if the service says so. */
export interface Refusal {
  reason: string;
  fault: string | undefined;
}

/** What is rehearsed with the key, whoever began it. It tells `change`. */
class Rehearsing extends EventTarget {
  catalogue: readonly Fault[] = [];
  /** The rehearsal that is active, or else the last. */
  shown: Rehearsal | undefined;
  /** The rehearsal that the page itself has changed last. */
  ownId: string | undefined;
  /** Why it could not be read. */
  failure = '';
  /** What was asked for, and not answered yet. */
  #wanted: readonly Change[] = [];
  #expiresInSeconds = 0;
  /** The sending under way or the last, and the one that waits for it. */
  #sending: Promise<unknown> = Promise.resolve();
  #next: Promise<Refusal | undefined> | undefined;
  /** The change of the page itself, and the active rehearsal of the account, since which all was read. */
  #readSince = '';
  #readAtMs = 0;
  #isReading = false;
  /** What was asked for before the page itself changed something is void. */
  #changes = 0;

  constructor() {
    super();
    session.addEventListener('change', () => void this.#follow());
    session.addEventListener('key', () => {
      this.shown = undefined;
      this.ownId = undefined;
      this.catalogue = [];
      this.failure = '';
      this.#wanted = [];
      this.#sending = Promise.resolve();
      this.#next = undefined;
      this.#isReading = false;
      this.#changes++;
    });
  }

  get isActive(): boolean {
    return this.shown !== undefined && isOn(this.shown);
  }

  /** The faults of the rehearsal that is active. */
  get active(): readonly RehearsedFault[] {
    return this.isActive ? (this.shown?.faults ?? []) : [];
  }

  /** What is on, or will be in a moment. */
  get plan(): readonly PlannedFault[] {
    return this.#planAfter(this.#wanted);
  }

  /** Changes what is performed from now on, for so long. Changes that wait for the same answer are sent together. */
  perform(change: Change, expiresInSeconds: number): Promise<Refusal | undefined> {
    const { signal } = session;
    this.#wanted = [...this.#wanted, change];
    this.#expiresInSeconds = expiresInSeconds;
    this.#changed();
    if (!this.#next) {
      this.#next = this.#sending.then(() => this.#send(signal));
      this.#sending = this.#next;
    }
    return this.#next;
  }

  #planAfter(changes: readonly Change[]): readonly PlannedFault[] {
    const plan = this.active.map((fault) => plannedAgain(fault, this.catalogue));
    return changes.reduce<readonly PlannedFault[]>((before, change) => change(before), plan);
  }

  async #send(signal: AbortSignal): Promise<Refusal | undefined> {
    if (signal.aborted) return undefined;
    const sent = this.#wanted;
    this.#next = undefined;
    let plan: readonly PlannedFault[] = [];
    let refusal: Refusal | undefined;
    try {
      // Another tab or a command may have changed it meanwhile.
      await this.#read();
      plan = this.#planAfter(sent);
      const rehearsal = await this.#put(plan);
      if (signal.aborted) return undefined;
      this.#changes++;
      this.shown = rehearsal ?? this.shown;
      this.ownId = this.shown?.id;
    } catch (error) {
      if (signal.aborted) return undefined;
      const reason = reasonOf(error);
      refusal = { reason, fault: blamed(reason, plan) };
    }
    this.#wanted = this.#wanted.slice(sent.length);
    this.#changed();
    void session.refresh();
    return refusal;
  }

  /** Performs these faults and no others. */
  async #put(plan: readonly PlannedFault[]): Promise<Rehearsal | undefined> {
    const { lab, signal } = session;
    const expiresInSeconds = this.#expiresInSeconds;
    if (plan.length > 0)
      return (await lab.startRehearsal(
        { faults: plan as LabTypes.PlannedFault[], expiresInSeconds },
        { signal },
      )) as Rehearsal;
    if (!this.shown || !this.isActive) return undefined;
    return (await lab.endRehearsal(this.shown.id, { signal })) as Rehearsal;
  }

  /** Reads what is new, whenever the account was. */
  async #follow(): Promise<void> {
    const { account, signal, standing } = session;
    if (!account || standing !== 'live' || this.#isReading) return;
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
      if (!signal.aborted) this.failure = reasonOf(error);
    }
    if (signal.aborted) return;
    this.#isReading = false;
    this.#changed();
  }

  /** Reads the active rehearsal or else the last, if the key has one. */
  async #read(): Promise<void> {
    const { lab, signal } = session;
    const changes = this.#changes;
    const rehearsals = (await lab.listRehearsals({ signal })) as Rehearsal[];
    signal.throwIfAborted();
    if (changes !== this.#changes) return;
    // Those of a clock that stands still have no order.
    const same = rehearsals.find(({ id }) => id === this.shown?.id);
    this.shown = rehearsals.find(isOn) ?? same ?? rehearsals[0];
  }

  async #readCatalogue(): Promise<void> {
    const { lab, signal } = session;
    if (this.catalogue.length > 0) return;
    const catalogue = (await lab.listFaults({ signal })) as Fault[];
    signal.throwIfAborted();
    this.catalogue = catalogue;
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}

const isOn = ({ endedAt, expiresAt }: Rehearsal) => !endedAt && Date.parse(expiresAt) > session.nowMs();

export const rehearsing = new Rehearsing();
