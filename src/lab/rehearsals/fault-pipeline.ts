import type { FastifyRequest } from 'fastify';
import type { Decision } from '../../access/limits/decision.ts';
import type { ApiError } from '../../foundation/errors.ts';
import type { Fields } from '../../foundation/field-names.ts';
import type { AnyInput, Handled, OperationResponse } from '../../http/operation.ts';
import type { Interceptor } from '../../http/request-context.ts';
import type { Effect, Fault, FaultContext, FaultInvocation } from '../faults/shared/fault.ts';
import type { CompiledFault, CompiledRehearsal } from './compiled-rehearsal.ts';
import type { SelectedFaults } from './progress.ts';

interface PipelineContext extends FaultContext {
  rehearsal: CompiledRehearsal;
  /** Counts a late step by its index; see `FaultInvocation`. */
  claim(index: number, change: Parameters<FaultInvocation['claim']>[0]): Promise<boolean>;
  /** Counts the conditions with these indexes, which changed the response. Does not fail. */
  count(indexes: readonly number[]): Promise<void>;
  /** Is called when a fault has cut the connection. */
  cutOff(): void;
}

/** Performs the faults of a rehearsal on one request, one after another. */
export class FaultPipeline implements Interceptor {
  readonly #context: PipelineContext;
  /** The faults that have changed the response. */
  readonly #names = new Set<string>();
  readonly #effects: Effect[] = [];
  /** Conditions that have changed the response and are not counted yet. */
  #uncounted: number[] = [];
  #isCutOff = false;

  constructor(context: PipelineContext) {
    this.#context = context;
  }

  /** Notes the fault that has redirected the request, which is counted already. */
  noteRedirect(fault: string): void {
    this.#names.add(fault);
  }

  /**
   * Performs conditions first, so that the step gets the response they have changed. Returns whether the request continues. Throws the error
   * to return instead of running the operation.
   */
  async run(
    { nearLimit, performed, planned }: SelectedFaults,
    conditions: readonly number[],
  ): Promise<boolean> {
    try {
      if (nearLimit) this.#perform(nearLimit.index, nearLimit);
      for (const index of conditions) this.#perform(index);
      if (performed) {
        this.#names.add(this.#fault(performed.index).name);
        this.#perform(performed.index, performed);
      }
      if (planned !== undefined) this.#perform(planned);
    } finally {
      await this.#count();
    }
    return !this.#isCutOff && !this.#context.reply.sent;
  }

  #perform(
    index: number,
    { untilMs, left = 0 }: Partial<Pick<FaultInvocation, 'untilMs' | 'left'>> = {},
  ): void {
    const { rehearsal, request, reply, operation, nowMs, services, claim, cutOff } = this.#context;
    const { parameters } = rehearsal.faults[index] as CompiledFault;
    const fault = this.#fault(index);
    const effect = fault.perform({
      ...{ request, reply, operation, parameters, nowMs, services, left },
      rehearsalId: rehearsal.id,
      untilMs: untilMs ?? nowMs,
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
    if (effect) this.#effects.push(effect);
  }

  #fault(index: number): Fault {
    return this.#context.rehearsal.faults[index]?.fault as Fault;
  }

  async #count(): Promise<void> {
    const indexes = this.#uncounted;
    if (indexes.length === 0) return;
    this.#uncounted = [];
    await this.#context.count(indexes);
  }

  get faults(): readonly string[] {
    return [...this.#names];
  }

  get fields(): Fields | undefined {
    const members = this.faults.map((name) => `${this.#context.rehearsal.id}; fault=${name}`);
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
    const shown = this.#effects.reduce((seen, effect) => effect.refusal?.(seen) ?? seen, error);
    // The refusal does not wait for the count.
    void this.#count();
    return shown;
  }

  represent(answer: OperationResponse): OperationResponse {
    return this.#effects.reduce((seen, effect) => effect.represent?.(seen) ?? seen, answer);
  }

  get streamed(): ((text: string) => string) | undefined {
    const rewriters = this.#effects.flatMap(({ streamed }) => (streamed ? [streamed] : []));
    if (rewriters.length === 0) return undefined;
    return (text) => rewriters.reduce((seen, rewrite) => rewrite(seen), text);
  }

  async answer(answer: OperationResponse): Promise<OperationResponse> {
    let seen = answer;
    for (const effect of this.#effects) seen = (await effect.answer?.(seen)) ?? seen;
    await this.#count();
    return seen;
  }
}
