import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { ApiError } from '../errors.ts';
import type { Fields } from '../field-names.ts';
import type { Rehearsed } from '../http/rehearsed.ts';
import type { Caller } from '../keys/store.ts';
import type { Decision } from '../limits/decision.ts';
import type { Operation } from '../operation.ts';
import type { Effect, Fault, Parameters as FaultParameters, Tools } from './fault.ts';
import { faultNamed } from './faults.ts';
import { advance, touched, type Verdict } from './progress.ts';
import { findScript, moveOn, type Script } from './rehearsals-store.ts';

type AnyInput = Parameters<Operation['handle']>[1];

const maxScripts = 10_000;

/**
 * Performs the faults that keys have asked for. The one place where a request meets them: after its admission, before its
 * operation.
 */
export class Rehearsals {
  readonly #tools: Tools;
  readonly #cutOff: (request: FastifyRequest, reply: FastifyReply, address: string) => void;
  /** What a rehearsal is does not change. */
  readonly #scripts = new LRUCache<string, Script>({ max: maxScripts });

  /** `cutOff` is told of each request whose connection a fault has cut off. */
  constructor(tools: Tools, cutOff: (request: FastifyRequest, reply: FastifyReply, address: string) => void) {
    this.#tools = tools;
    this.#cutOff = cutOff;
  }

  /**
   * Performs what the rehearsal of the caller has for a request. Returns whether the request goes on. Throws what is answered instead
   * of the operation.
   */
  async perform(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { workspaceId, rehearsalId } = request.caller as Caller;
    const operation = request.operation as Operation;
    const script = await this.#find(workspaceId, rehearsalId as string);
    const nowMs = this.#tools.clock();
    if (!script || nowMs >= script.expiresAtMs) return true;
    const faults = script.faults.map(({ fault }) => faultNamed(fault) as Fault);
    const concerned = (index: number) =>
      [undefined, operation.id].includes(script.faults[index]?.operation) && faults[index]?.fits(operation);
    const takes = (index: number) => concerned(index) === true && (faults[index]?.takes?.(request) ?? true);
    const conditions = faults.flatMap(({ isCondition, name }, index) =>
      isCondition && name !== 'near-limit' && takes(index) ? [index] : [],
    );
    const needsCount =
      script.steps.some(
        ({ times, perMinute }, index) => concerned(index) && (times !== undefined || perMinute !== undefined),
      ) || script.steps.some(({ holds, holdMs }) => holds === 'key' && holdMs > 0);
    const verdict: Verdict | undefined = needsCount
      ? await moveOn(this.#tools.db, script, nowMs, (progress) => {
          const moved = advance(script.steps, progress, { operationId: operation.id, nowMs, takes });
          return { progress: moved.progress, result: moved.verdict };
        })
      : {};
    if (!verdict) return true;
    const rehearsed = new Performing(script.id);
    request.rehearsed = rehearsed;
    let goesOn = true;
    const perform = async (index: number, isStep: boolean) => {
      if (isStep) rehearsed.touch(faults[index] as Fault);
      const {
        fault: _name,
        operation: _operation,
        after: _after,
        times: _times,
        ...parameters
      } = script.faults[index] as Script['faults'][number];
      const effect = await (faults[index] as Fault).perform({
        request,
        reply,
        operation,
        parameters: parameters as FaultParameters,
        rehearsalId: script.id,
        nowMs,
        untilMs: verdict.performed?.untilMs ?? 0,
        left: verdict.nearLimit?.left ?? 0,
        decision: request.decision as Decision,
        tools: this.#tools,
        touch: () => rehearsed.touch(faults[index] as Fault, index),
        cutOff: () => {
          goesOn = false;
          this.#cutOff(request, reply, request.ip);
        },
      });
      rehearsed.add(effect);
    };
    rehearsed.save = (indexes) =>
      moveOn(this.#tools.db, script, nowMs, (progress) => ({
        progress: indexes.reduce((moved, index) => touched(moved, index, operation.id), progress),
        result: undefined,
      }));
    try {
      if (verdict.nearLimit) await perform(verdict.nearLimit.index, false);
      for (const index of conditions) await perform(index, false);
      if (verdict.performed) await perform(verdict.performed.index, true);
    } finally {
      await rehearsed.saveTouched();
    }
    return goesOn;
  }

  async #find(workspaceId: number, id: string): Promise<Script | undefined> {
    const name = `${workspaceId} ${id}`;
    const known = this.#scripts.get(name);
    if (known) return known;
    const script = await findScript(this.#tools.db.read, workspaceId, id);
    if (script) this.#scripts.set(name, script);
    return script;
  }
}

/** What the faults of a rehearsal do to one request, one after another. */
class Performing implements Rehearsed {
  readonly #id: string;
  readonly #names = new Set<string>();
  #unsaved: number[] = [];
  #effects: Effect[] = [];
  /** Counts the conditions with these numbers as performed. */
  save: (indexes: readonly number[]) => Promise<unknown> = async () => {};

  constructor(id: string) {
    this.#id = id;
  }

  /** Notes that a fault has touched the answer. A condition is counted by its number. */
  touch({ name }: Fault, conditionIndex?: number): void {
    if (conditionIndex !== undefined && !this.#names.has(name)) this.#unsaved.push(conditionIndex);
    this.#names.add(name);
  }

  add(effect: Effect): void {
    this.#effects.push(effect);
  }

  async saveTouched(): Promise<void> {
    const indexes = this.#unsaved.splice(0);
    if (indexes.length > 0) await this.save(indexes);
  }

  get faults(): readonly string[] {
    return [...this.#names];
  }

  get fields(): Fields | undefined {
    const members = this.faults.map((name) => `${this.#id}; fault=${name}`);
    return members.length > 0 ? { 'Petstore-Rehearsal': members.join(', ') } : undefined;
  }

  view(request: FastifyRequest): FastifyRequest {
    return this.#effects.reduce((seen, effect) => effect.view?.(seen) ?? seen, request);
  }

  async prepare(input: AnyInput): Promise<void> {
    for (const effect of this.#effects) await effect.prepare?.(input);
  }

  handle(handle: Operation['handle']): Operation['handle'] {
    return this.#effects.reduce((inner, effect) => effect.handle?.(inner) ?? inner, handle);
  }

  refusal(error: ApiError): ApiError {
    const told = this.#effects.reduce((seen, effect) => effect.refusal?.(seen) ?? seen, error);
    // The refusal does not wait for its count.
    void this.saveTouched().catch(() => {});
    return told;
  }

  async answer(answer: Parameters<NonNullable<Effect['answer']>>[0]) {
    let told = answer;
    for (const effect of this.#effects) told = (await effect.answer?.(told)) ?? told;
    await this.saveTouched();
    return told;
  }
}
