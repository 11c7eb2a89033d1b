import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../access/keys/store.ts';
import type { Decision } from '../../access/limits/decision.ts';
import type { ApiError } from '../../foundation/errors.ts';
import type { Fields } from '../../foundation/field-names.ts';
import type { AnyInput, Handled, Operation } from '../../http/operation.ts';
import type { Interceptor } from '../../http/request-context.ts';
import type { OperationResponse } from '../../http/responses.ts';
import { unknownAlias } from '../../http/target.ts';
import { moved } from '../faults/moved.ts';
import type { Effect, Fault, FaultContext, FaultInvocation, FaultServices } from '../faults/shared/fault.ts';
import { rehearsals } from '../key-binding.ts';
import {
  type ApplicableFaults,
  applicableFaults,
  type CompiledFault,
  type CompiledRehearsal,
} from './compiled-rehearsal.ts';
import { advance, type SelectedFaults } from './progress.ts';
import { advanceStored, claimStep, countTouched } from './progress-store.ts';
import { findCompiled } from './store.ts';

/** Each cached rehearsal has up to a hundred faults. */
const maxCached = 1_000;

export type CutOff = (request: FastifyRequest, reply: FastifyReply, address: string) => void;

/** Performs rehearsals. It acts on a request after its admission and before its operation. */
export class RehearsalPerformer {
  readonly #services: FaultServices;
  readonly #cutOff: CutOff;
  /** Rehearsals never change, and a removed one never comes back. */
  readonly #cache = new LRUCache<string, CompiledRehearsal | 'gone'>({ max: maxCached });
  #isFailing = false;

  /** `cutOff` is called for each request whose connection a fault has cut. */
  constructor(services: FaultServices, cutOff: CutOff) {
    this.#services = services;
    this.#cutOff = cutOff;
  }

  /** Performs the rehearsal of the caller. Returns whether the request continues. Throws the error to return instead. */
  async perform(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const operation = request.operation as Operation;
    const rehearsal = await this.#rehearsalOf(request.caller as Caller);
    const nowMs = this.#services.clock();
    const isOver = !rehearsal || nowMs >= rehearsal.expiresAtMs;
    const redirectedBy = isOver ? undefined : this.#redirectedBy(rehearsal, request);
    if (request.raw.alias !== undefined && redirectedBy === undefined) throw unknownAlias();
    if (isOver) return true;
    const applicable = applicableFaults(rehearsal, operation, request, this.#services);
    const selected = applicable && (await this.#select(rehearsal, applicable, operation.id, nowMs));
    if (!selected && redirectedBy === undefined) return true;
    const { ip } = request;
    const pipeline = new FaultPipeline({
      ...{ rehearsal, request, reply, operation, nowMs, services: this.#services },
      claim: (index, change) =>
        claimStep(this.#services.db, rehearsal, this.#services.clock(), operation.id, index, change),
      count: (indexes) => this.#count(rehearsal, operation.id, indexes),
      cutOff: () => this.#cutOff(request, reply, ip),
    });
    request.interceptor = pipeline;
    if (redirectedBy !== undefined) pipeline.noteRedirect(redirectedBy);
    return pipeline.run(selected ?? {}, applicable?.conditions ?? []);
  }

  /** The fault of the caller's rehearsal that redirected the request to its path. */
  #redirectedBy({ id, faults }: CompiledRehearsal, { raw }: FastifyRequest): string | undefined {
    if (raw.alias === id && faults.some(({ fault }) => fault?.name === moved.name)) return moved.name;
    const link = this.#services.openLinks.followedBy(raw);
    return link?.rehearsalId === id ? link?.fault : undefined;
  }

  /** Selects the faults for a request, and counts it. Returns undefined if the rehearsal has ended. */
  async #select(
    { workspaceId, id, steps }: CompiledRehearsal,
    { eligible, isCounted }: ApplicableFaults,
    operationId: string,
    nowMs: number,
  ): Promise<SelectedFaults | undefined> {
    if (!isCounted) return {};
    const arriving = { nowMs, isEligible: (index: number) => eligible.has(index) };
    return advanceStored(this.#services.db, { workspaceId, id }, nowMs, operationId, (progress) =>
      advance(steps, progress, arriving),
    );
  }

  /** Counts conditions that have changed a response. If that fails, the response is sent all the same, and the log has one warning. */
  async #count(rehearsal: CompiledRehearsal, operationId: string, indexes: readonly number[]): Promise<void> {
    const { db, clock, log } = this.#services;
    try {
      await countTouched(db, rehearsal, clock(), operationId, indexes);
      if (this.#isFailing) log.info('responses that rehearsal conditions change are counted again');
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing) log.warn({ err }, 'responses that rehearsal conditions change cannot be counted');
      this.#isFailing = true;
    }
  }

  async #rehearsalOf(caller: Caller): Promise<CompiledRehearsal | undefined> {
    const { workspaceId } = caller;
    const id = rehearsals.of(caller) as string;
    const name = `${workspaceId} ${id}`;
    const cached = this.#cache.get(name);
    if (cached) return cached === 'gone' ? undefined : cached;
    const rehearsal = await findCompiled(this.#services.db.read, workspaceId, id);
    this.#cache.set(name, rehearsal ?? 'gone');
    return rehearsal;
  }
}

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
class FaultPipeline implements Interceptor {
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

  /** Performs conditions first: the step gets their response. Returns whether the request continues, or throws the error to return. */
  async run({ nearLimit, step, lateStep }: SelectedFaults, conditions: readonly number[]): Promise<boolean> {
    try {
      if (nearLimit) this.#perform(nearLimit.index, nearLimit);
      for (const index of conditions) this.#perform(index);
      if (step) {
        this.#names.add(this.#fault(step.index).name);
        this.#perform(step.index, step);
      }
      if (lateStep !== undefined) this.#perform(lateStep);
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
