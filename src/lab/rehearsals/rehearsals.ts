import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../keys/store.ts';
import type { Operation } from '../../operation.ts';
import type { Tools } from './fault.ts';
import { Performing } from './performing.ts';
import { advance, type Verdict } from './progress.ts';
import { type Plan, planFor, type Script } from './script.ts';
import { findScript, moveOn } from './store.ts';

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
    const cutOff = () => this.#cutOff(request, reply, ip);
    const performing = new Performing({
      ...{ script, request, reply, operation, nowMs, cutOff },
      tools: this.#tools,
    });
    request.rehearsed = performing;
    return performing.run(verdict, plan.conditions);
  }

  /** What happens to a request, which counts; undefined if the rehearsal has been ended. */
  async #decide(
    script: Script,
    { takes, isCounted }: Plan,
    operationId: string,
    nowMs: number,
  ): Promise<Verdict | undefined> {
    if (!isCounted) return {};
    const arriving = { operationId, nowMs, takes: (index: number) => takes.has(index) };
    return moveOn(this.#tools.db, script, nowMs, (progress) => advance(script.steps, progress, arriving));
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
