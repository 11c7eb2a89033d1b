import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TProperties } from 'typebox';
import type { Database, Transaction } from '../../db/database.ts';
import type { Rehearsed } from '../../http/rehearsed.ts';
import type { Decision } from '../../limits/decision.ts';
import type { Operation } from '../../operation.ts';
import type { Level } from '../report/checks/check.ts';
import type { HeldBack } from './held-back.ts';
import type { Scope } from './progress.ts';

/** What faults are about. Those of a group belong together. */
export type Group =
  | 'Limits and bans'
  | 'Failures and refusals'
  | 'Broken connections'
  | 'Late answers, other writers'
  | 'Lists'
  | 'Values';

/** A hard case that the lab performs on demand. */
export interface Fault {
  name: string;
  /** What it takes besides `operation`, `after` and `times`. Each has a default. */
  parameters: TProperties;
  /** Lasts as long as its rehearsal and takes no `times`. Otherwise it is a step, performed a number of times. */
  isCondition?: boolean;
  /** Takes no `operation`: what one operation shows, every other must understand. */
  isForAll?: boolean;
  /** Of a condition that answers all that it fits instead of the operation, so that nothing comes to steps. */
  refusesAll?: boolean;
  /** Of a condition on limits: how many requests it leaves of each minute. */
  perMinute?(parameters: Parameters): number;
  /** Whether it can touch answers to an operation. */
  fits(operation: Operation): boolean;
  /** Whether it can be performed on this request; of a step, which waits for one that it can touch. */
  canTouch?(request: FastifyRequest, tools: Tools): boolean;
  /** For whom it counts requests: for each operation, unless this says for the whole key. */
  scope?: Scope;
  /** How long it goes on once it was performed: whoever comes sooner, within its scope, gets it again. */
  holdMs?(parameters: Parameters): number;
  /** Of a step that does nothing to a request that is refused before it acts: it is counted by its `claim`. */
  isLate?: boolean;
  group: Group;
  /** Whether a client must survive it, or had better: do under it what it does without. */
  level: Level;
  /** What the service does. */
  does: string;
  /** What a good client does. */
  goodClient: string;
  /** Where users were bitten by it. */
  bites: string;
  perform(performance: Performance): Effect | Promise<Effect>;
}

export type Parameters = Readonly<Record<string, number>>;

/** What a fault does on the way of a request through `mount.ts`. */
export type Effect = Omit<Rehearsed, 'faults' | 'fields'>;

/** One performance of a fault. */
export interface Performance {
  request: FastifyRequest;
  reply: FastifyReply;
  operation: Operation;
  parameters: Parameters;
  /** The id of the rehearsal. */
  rehearsalId: string;
  nowMs: number;
  /** When what the fault holds back may be tried again, if it holds something back. Of a condition on limits, when the minute ends. */
  untilMs: number;
  /** Of a condition on limits: how many requests are left in the minute, this one taken off; −1 if there was none for it. */
  left: number;
  /** What the real limits decided on the request. */
  decision: Decision;
  tools: Tools;
  /** Is called by a condition once it touches the answer. */
  touch(): void;
  /**
   * Is called by a late step when it acts: counts it, in one transaction with what `change` writes, which may run several times.
   * Resolves to false if it is no longer to be performed; then nothing is written.
   */
  claim(change?: (sql: Transaction) => Promise<unknown>): Promise<boolean>;
  /** Is called by a fault before it cuts the connection off, or when the client does: nobody else will answer. Once is enough. */
  cutOff(): void;
}

/** What faults need of the service. */
export interface Tools {
  db: Database;
  operations: readonly Operation[];
  /** Where callers find the API. */
  baseUrl: string;
  clock: () => number;
  /** Whether a proxy stands between a client and this instance: it says so, or one is configured. */
  isPassedOn(request: FastifyRequest): boolean;
  /** Holds answers back. */
  heldBack: HeldBack;
  log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
}

/** A fault whose name and parameters are types, too. */
export type Declared<Name extends string, P extends TProperties> = Omit<Fault, 'name' | 'parameters'> & {
  name: Name;
  parameters: P;
};

/** A fault as its file declares it, with types that follow from its parameters. */
export function fault<const Name extends string, const P extends TProperties>(
  definition: Omit<Fault, 'name' | 'parameters' | 'perform' | 'perMinute' | 'holdMs'> & {
    name: Name;
    parameters: P;
    perMinute?(parameters: Static<TObject<P>>): number;
    holdMs?(parameters: Static<TObject<P>>): number;
    perform(
      performance: Omit<Performance, 'parameters'> & { parameters: Static<TObject<P>> },
    ): Effect | Promise<Effect>;
  },
): Declared<Name, P> {
  return definition as unknown as Declared<Name, P>;
}
