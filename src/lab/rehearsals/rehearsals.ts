import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../keys/store.ts';
import type { Operation } from '../../operation.ts';
import type { Tools } from './fault.ts';
import { FaultChain } from './fault-chain.ts';
import { advance, type Verdict } from './progress.ts';
import { claimStep, countTouched, moveOn } from './progress-store.ts';
import { type Plan, planFor, type Script } from './script.ts';
import { findScript } from './store.ts';

/** Each holds up to a hundred faults. */
const maxScripts = 1_000;

export type CutOff = (request: FastifyRequest, reply: FastifyReply, address: string) => void;

/**
 * Performs the faults that keys have asked for. The one place where a request meets them: after its admission, before its
 * operation.
 */
export class Rehearsals {
  readonly #tools: Tools;
  readonly #cutOff: CutOff;
  /** What a rehearsal is does not change. One that is no longer kept does not come back. */
  readonly #scripts = new LRUCache<string, Script | 'gone'>({ max: maxScripts });
  #isFailing = false;

  /** `cutOff` is told of each request whose connection a fault has cut off. */
  constructor(tools: Tools, cutOff: CutOff) {
    this.#tools = tools;
    this.#cutOff = cutOff;
  }

  /**
   * Performs what the rehearsal of the caller has for a request. Returns whether the request goes on. Throws what is answered instead
   * of the operation.
   */
  async perform(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const operation = request.operation as Operation;
    const script = await this.#scriptOf(request.caller as Caller);
    const nowMs = this.#tools.clock();
    const plan = script && nowMs < script.expiresAtMs && planFor(script, operation, request, this.#tools);
    if (!plan) return true;
    const verdict = await this.#decide(script, plan, operation.id, nowMs);
    if (!verdict) return true;
    const { ip } = request;
    const chain = new FaultChain({
      ...{ script, request, reply, operation, nowMs, tools: this.#tools },
      claim: (index, change) =>
        claimStep(this.#tools.db, script, this.#tools.clock(), operation.id, index, change),
      count: (indexes) => this.#count(script, operation.id, indexes),
      cutOff: () => this.#cutOff(request, reply, ip),
    });
    request.rehearsed = chain;
    return chain.run(verdict, plan.conditions);
  }

  /** What happens to a request, which counts; undefined if the rehearsal has been ended. */
  async #decide(
    script: Script,
    { eligible, isCounted }: Plan,
    operationId: string,
    nowMs: number,
  ): Promise<Verdict | undefined> {
    if (!isCounted) return {};
    const arriving = { nowMs, isEligible: (index: number) => eligible.has(index) };
    return moveOn(this.#tools.db, script, nowMs, operationId, (progress) =>
      advance(script.steps, progress, arriving),
    );
  }

  /** Counts conditions that have touched an answer. It is not lost if they cannot be counted; the log tells once. */
  async #count(script: Script, operationId: string, indexes: readonly number[]): Promise<void> {
    const { db, clock, log } = this.#tools;
    try {
      await countTouched(db, script, clock(), operationId, indexes);
      if (this.#isFailing) log.info('what conditions of rehearsals touch is counted again');
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing) log.warn({ err }, 'what conditions of rehearsals touch cannot be counted');
      this.#isFailing = true;
    }
  }

  async #scriptOf({ workspaceId, rehearsalId }: Caller): Promise<Script | undefined> {
    const id = rehearsalId as string;
    const name = `${workspaceId} ${id}`;
    const known = this.#scripts.get(name);
    if (known) return known === 'gone' ? undefined : known;
    const script = await findScript(this.#tools.db.read, workspaceId, id);
    this.#scripts.set(name, script ?? 'gone');
    return script;
  }
}
