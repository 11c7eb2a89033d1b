import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from '../admission.ts';
import type { Answered } from '../answered.ts';
import { isPassedOn } from '../http/headers.ts';
import { isForLab } from '../http/target.ts';
import type { Decision } from '../limits/decision.ts';
import { BanStarts } from './account/ban-starts.ts';
import { Resets } from './account/resets.ts';
import { labQuota } from './bounds.ts';
import { Links } from './recordings/links.ts';
import { Readings } from './recordings/readings.ts';
import { Recorder, type RecorderParts } from './recordings/recorder.ts';
import type { Tools } from './rehearsals/fault.ts';
import { HeldBack } from './rehearsals/held-back.ts';
import { Rehearsals } from './rehearsals/rehearsals.ts';
import type { LabServices } from './services.ts';

type CutOff = ConstructorParameters<typeof Rehearsals>[1];

/** What the lab does to requests of the API: rehearsals act on them, recordings keep them. */
export class Lab {
  readonly #rehearsals: Rehearsals;
  readonly #heldBack = new HeldBack();
  readonly #recorder: Recorder;
  readonly #banStarts: BanStarts;

  constructor(tools: Omit<Tools, 'heldBack' | 'isPassedOn' | 'log'>, parts: RecorderParts, cutOff: CutOff) {
    const its: Pick<Tools, 'heldBack' | 'isPassedOn' | 'log'> = {
      log: parts.log,
      heldBack: this.#heldBack,
      isPassedOn: (request) => parts.isBehindProxy || isPassedOn(request),
    };
    this.#rehearsals = new Rehearsals({ ...tools, ...its }, cutOff);
    this.#recorder = new Recorder(parts);
    this.#banStarts = new BanStarts(parts);
  }

  /**
   * Takes an admitted request of the API: performs what the rehearsal of its caller has for it; undefined if the caller has none.
   * Resolves to whether the request goes on, and rejects with what is answered instead of the operation.
   */
  admitted(request: FastifyRequest, reply: FastifyReply): Promise<boolean> | undefined {
    this.#recorder.watch(request, reply);
    if (request.caller?.rehearsalId === undefined || !request.operation) return undefined;
    return this.#rehearsals.perform(request, reply);
  }

  /** Keeps an answered request of a key that is recorded. */
  observe(facts: Answered): void {
    if (facts.sender?.recordingId === undefined) return;
    if (!isForLab(facts.exchange?.request ?? facts.unread ?? {})) this.#recorder.observe(facts);
  }

  /** Keeps which request began a ban of its key. */
  banBegan(request: FastifyRequest, decision: Decision): void {
    this.#banStarts.note(request, decision);
  }

  /** What its operations need of it, and of the instance. */
  services(limits: Pick<LabServices, 'limiter' | 'banRules'>, stopwatch: () => number): LabServices {
    const recorded = (keyId: string) => this.#recorder.settled(keyId);
    const banStartKnown = (keyId: string) => this.#banStarts.settled(keyId);
    const resets = new Resets(stopwatch);
    return { ...limits, recorded, banStartKnown, resets, readings: new Readings(), links: new Links() };
  }

  /** Lets all that is held back go on, and holds nothing back any more. */
  release(): void {
    this.#heldBack.stop();
  }

  /** Writes what is still to be kept. */
  async close(): Promise<void> {
    await Promise.all([this.#recorder.close(), this.#banStarts.close()]);
  }
}

/** Requests to the lab have an account of their own, from which nobody is banned. */
export const labAccount: Admission['accountOf'] = ({ workspaceId, keyId }) => ({
  subject: { workspaceId, id: `lab ${keyId}` },
  terms: { quota: labQuota },
});
