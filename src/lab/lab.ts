import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from '../admission.ts';
import type { Answered } from '../answered.ts';
import { isPassedOn } from '../http/headers.ts';
import { isForLab } from '../http/target.ts';
import { labQuota } from './bounds.ts';
import { Recorder, type RecorderParts } from './recordings/recorder.ts';
import type { Tools } from './rehearsals/fault.ts';
import { HeldBack } from './rehearsals/held-back.ts';
import { Rehearsals } from './rehearsals/rehearsals.ts';

type CutOff = ConstructorParameters<typeof Rehearsals>[1];

/** What the lab does to requests of the API: rehearsals act on them, recordings keep them. */
export class Lab {
  readonly #rehearsals: Rehearsals;
  readonly #heldBack = new HeldBack();
  readonly #recorder: Recorder;

  constructor(tools: Omit<Tools, 'heldBack' | 'isPassedOn' | 'log'>, parts: RecorderParts, cutOff: CutOff) {
    const its: Pick<Tools, 'heldBack' | 'isPassedOn' | 'log'> = {
      log: parts.log,
      heldBack: this.#heldBack,
      isPassedOn: (request) => parts.isBehindProxy || isPassedOn(request),
    };
    this.#rehearsals = new Rehearsals({ ...tools, ...its }, cutOff);
    this.#recorder = new Recorder(parts);
  }

  /**
   * Performs what the rehearsal of a caller has for a request to an operation; undefined if the caller has none. Resolves to whether the
   * request goes on, and rejects with what is answered instead of the operation.
   */
  rehearse(request: FastifyRequest, reply: FastifyReply): Promise<boolean> | undefined {
    if (request.caller?.rehearsalId === undefined || !request.operation) return undefined;
    return this.#rehearsals.perform(request, reply);
  }

  /** Keeps an answered request of a key that is recorded. */
  observe(facts: Answered): void {
    const { sender, exchange, unread } = facts;
    if (sender?.recordingId === undefined) return;
    if (isForLab(exchange?.request ?? unread ?? {})) return;
    this.#recorder.observe(facts, { ...sender, recordingId: sender.recordingId });
  }

  /** Waits until what was answered before can be read in recordings. */
  recorded(): Promise<void> {
    return this.#recorder.settled();
  }

  /** Lets all that is held back go on, and holds nothing back any more. */
  release(): void {
    this.#heldBack.stop();
  }

  /** Writes what is still to be kept. */
  close(): Promise<void> {
    return this.#recorder.close();
  }
}

/** Requests to the lab have an account of their own, from which nobody is banned. */
export const labAccount: Admission['accountOf'] = ({ workspaceId, keyId }) => ({
  subject: { workspaceId, id: `lab ${keyId}` },
  terms: { quota: labQuota },
});
