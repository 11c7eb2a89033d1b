import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../access/keys/store.ts';
import type { Operation } from '../../http/operation.ts';
import { unknownAlias } from '../../http/target.ts';
import { moved } from '../faults/moved.ts';
import type { FaultServices } from '../faults/shared/fault.ts';
import { rehearsals } from '../key-binding.ts';
import { type CompiledRehearsal, planFor, type RequestPlan } from './compiled-rehearsal.ts';
import { FaultPipeline } from './fault-pipeline.ts';
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
    const plan = planFor(rehearsal, operation, request, this.#services);
    const selected = plan && (await this.#select(rehearsal, plan, operation.id, nowMs));
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
    return pipeline.run(selected ?? {}, plan?.conditions ?? []);
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
    { eligible, isCounted }: RequestPlan,
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
