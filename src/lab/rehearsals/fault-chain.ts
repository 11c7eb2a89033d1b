import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../../errors.ts';
import type { Fields } from '../../field-names.ts';
import type { Answer } from '../../http/answer.ts';
import type { Rehearsed } from '../../http/rehearsed.ts';
import type { Decision } from '../../limits/decision.ts';
import type { Handled, Operation } from '../../operation.ts';
import type { Effect, Fault, Performance, Tools } from './fault.ts';
import type { Verdict } from './progress.ts';
import type { Script, ScriptedFault } from './script.ts';

type AnyInput = Parameters<Handled['handle']>[1];

/** A request that meets a script. */
export interface Meeting {
  script: Script;
  request: FastifyRequest;
  reply: FastifyReply;
  operation: Operation;
  nowMs: number;
  tools: Tools;
  /** Counts the late step with this number; see `Performance`. */
  claim(index: number, change: Parameters<Performance['claim']>[0]): Promise<boolean>;
  /** Counts the conditions with these numbers, which have touched the answer. Does not fail. */
  count(indexes: readonly number[]): Promise<void>;
  /** Is called when a fault has cut off the connection. */
  cutOff(): void;
}

/** What the faults of a rehearsal do to one request, one after another. */
export class FaultChain implements Rehearsed {
  readonly #meeting: Meeting;
  /** The faults that have touched the answer. */
  readonly #names = new Set<string>();
  readonly #effects: Effect[] = [];
  /** Conditions that have touched the answer and are not counted yet. */
  #uncounted: number[] = [];
  #isCutOff = false;

  constructor(meeting: Meeting) {
    this.#meeting = meeting;
  }

  /**
   * Performs conditions, and then the step, which so sees what they have made of the answer. Returns whether the request goes on.
   * Throws what is answered instead of the operation.
   */
  async run({ nearLimit, performed, planned }: Verdict, conditions: readonly number[]): Promise<boolean> {
    try {
      if (nearLimit) await this.#perform(nearLimit.index, nearLimit);
      for (const index of conditions) await this.#perform(index);
      if (performed) {
        this.#names.add(this.#fault(performed.index).name);
        await this.#perform(performed.index, performed);
      }
      if (planned !== undefined) await this.#perform(planned);
    } finally {
      await this.#count();
    }
    return !this.#isCutOff;
  }

  async #perform(index: number, told: Partial<Pick<Performance, 'untilMs' | 'left'>> = {}): Promise<void> {
    const { script, request, reply, operation, nowMs, tools, claim, cutOff } = this.#meeting;
    const { parameters } = script.faults[index] as ScriptedFault;
    const fault = this.#fault(index);
    const effect = await fault.perform({
      ...{ request, reply, operation, parameters, rehearsalId: script.id, nowMs, tools },
      untilMs: told.untilMs ?? nowMs,
      left: told.left ?? 0,
      decision: request.decision as Decision,
      touch: () => {
        if (fault.isCondition && !this.#names.has(fault.name)) this.#uncounted.push(index);
        this.#names.add(fault.name);
      },
      claim: async (change) => {
        const isClaimed = await claim(index, change);
        if (isClaimed) this.#names.add(fault.name);
        return isClaimed;
      },
      cutOff: () => {
        if (!this.#isCutOff) cutOff();
        this.#isCutOff = true;
      },
    });
    this.#effects.push(effect);
  }

  #fault(index: number): Fault {
    return this.#meeting.script.faults[index]?.fault as Fault;
  }

  /** Counts the conditions that have touched the answer. An answer that was made is not lost if they cannot be counted. */
  async #count(): Promise<void> {
    const indexes = this.#uncounted;
    if (indexes.length === 0) return;
    this.#uncounted = [];
    await this.#meeting.count(indexes);
  }

  get faults(): readonly string[] {
    return [...this.#names];
  }

  get fields(): Fields | undefined {
    const members = this.faults.map((name) => `${this.#meeting.script.id}; fault=${name}`);
    return members.length > 0 ? { 'Petstore-Rehearsal': members.join(', ') } : undefined;
  }

  view(request: FastifyRequest): FastifyRequest {
    return this.#effects.reduce((seen, effect) => effect.view?.(seen) ?? seen, request);
  }

  async prepare(input: AnyInput): Promise<void> {
    for (const effect of this.#effects) await effect.prepare?.(input);
  }

  handle(handle: Handled['handle']): Handled['handle'] {
    return this.#effects.reduce((inner, effect) => effect.handle?.(inner) ?? inner, handle);
  }

  refusal(error: ApiError): ApiError {
    const told = this.#effects.reduce((seen, effect) => effect.refusal?.(seen) ?? seen, error);
    // The refusal does not wait for its count.
    void this.#count();
    return told;
  }

  represent(answer: Answer): Answer {
    return this.#effects.reduce((shown, effect) => effect.represent?.(shown) ?? shown, answer);
  }

  get streamed(): ((text: string) => string) | undefined {
    const shows = this.#effects.flatMap(({ streamed }) => (streamed ? [streamed] : []));
    return shows.length === 0 ? undefined : (text) => shows.reduce((shown, show) => show(shown), text);
  }

  async answer(answer: Answer): Promise<Answer> {
    let told = answer;
    for (const effect of this.#effects) told = (await effect.answer?.(told)) ?? told;
    await this.#count();
    return told;
  }
}
