import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import type { Decision } from '../../../access/limits/decision.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import type { ErrorCode } from '../../../foundation/errors.ts';
import { cameOverConnection } from '../../../http/connections.ts';
import type { Operation } from '../../../http/operation.ts';
import type { Interceptor } from '../../../http/request-context.ts';
import type { TargetApi } from '../../target-api.ts';
import type { DelayQueue } from './delay-queue.ts';
import type { OpenLinks } from './open-links.ts';

/** Whether a client must handle a fault or pass a check, or only should. */
export const levels = ['required', 'recommended'] as const;
export type Level = (typeof levels)[number];

/** Headings of the catalogue. */
export type Group =
  | 'Limits and bans'
  | 'Failures and refusals'
  | 'Broken connections'
  | 'Late responses, other writers'
  | 'Lists'
  | 'Streams'
  | 'Values';

/** Which requests share a counter: those for one operation, or all of the key. */
export type Scope = 'operation' | 'key';

/** What responses show under a fault. */
export type Shown =
  | 'other ids'
  | 'more fields'
  | 'another status'
  | 'pages'
  | 'older state'
  | 'fewer events'
  | 'changes of another writer';

/** A failure that the lab performs on demand. */
export interface Fault {
  name: string;

  // When it fires, for rehearsals.
  /** It lasts as long as its rehearsal. Other faults are steps, which are performed a number of times. */
  isCondition?: boolean;
  /** The fault has no `operation` parameter, since all operations must show the same values. */
  takesNoOperation?: boolean;
  /** The condition refuses every request that it fits, so no step is performed on them. */
  refusesAll?: boolean;
  /** The number of requests per minute that the condition allows. */
  perMinute?(parameters: Parameters): number;
  /** Whether the fault can affect responses of an operation. */
  fits(operation: Operation, api: TargetApi): boolean;
  /** Whether a step can affect this request. Otherwise it waits for the next one. */
  canTouch(request: FastifyRequest, services: FaultServices): boolean;
  /** `operation` if absent. */
  scope?: Scope;
  /** How long a performed fault lasts. Until then, all requests in its scope get it again. */
  holdMs?(parameters: Parameters): number;
  /** A late step: it acts only if the request is valid, and counts itself with `claim`. */
  actsAfterValidation?: boolean;

  // What it answers, for the description and the checks.
  /** The errors that it returns. The description lists them for each operation that it fits. */
  errors?: readonly ErrorCode[];
  /** It returns this status and an HTML page, like a gateway. The description has no such responses. */
  gatewayStatus?: 502 | 504;
  /** It returns a redirect. The description has no such responses. */
  redirects?: true;
  /** It ends the connection before the response is complete. */
  endsConnection?: boolean;
  /** Pages have fewer items than requested, although more follow. */
  shortensPages?: boolean;
  /** How its responses break the description on purpose: other values, a broken body, another `Retry-After`. */
  undescribed?: readonly ('values' | 'body' | 'Retry-After')[];

  // How clients are judged under it, for `grade`.
  /** Whether a client must, or should, produce the same result with the fault as without. */
  level: Level;
  /** It sends nothing for a while. The time that the client waits is judged. */
  isSilent?: true;
  /** A good client may end with an exit status other than 0. */
  mayEnd?: true;
  /** A client that waits for minutes is slow, not wrong. */
  mayWaitLong?: true;
  /** How often a step is performed with each value of a parameter but the first. Default: once. */
  timesOfVariants?: number;
  /** The fault that `grade` performs before this one, so that the program meets this one. */
  follows?: string;
  /** It shows the most mistakes in the least time, so `grade --quick` performs it. */
  isQuick?: true;
  /** What its responses show in place of the usual content. A good client may print that. */
  shows?: Shown;

  // What people read about it.
  group: Group;
  does: string;
  goodClient: string;
  /** Why it matters: what went wrong for real users. */
  whyItMatters: string;

  /** Parameters in addition to `operation`, `after` and `times`. Declare them with `integer` or `choice`. Each has a default. */
  parameters: TProperties;
  perform(invocation: FaultInvocation): Effect | undefined;
}

export type Parameters = Readonly<Record<string, number | string>>;

/** What a fault changes about a request that continues through `mount.ts`. */
export type Effect = Omit<Interceptor, 'faults' | 'fields'>;

export interface FaultContext {
  request: FastifyRequest;
  reply: FastifyReply;
  operation: Operation;
  nowMs: number;
  services: FaultServices;
}

/** One fault of a rehearsal, performed on one request. */
export interface FaultInvocation extends FaultContext {
  rehearsalId: string;
  parameters: Parameters;
  /** When the client may retry (`holdMs`), or when the minute ends (`perMinute`). Milliseconds since 1970. */
  untilMs: number;
  /** With `perMinute`: requests left in the minute after this one; −1 if this one is over the limit. */
  left: number;
  /** The decision of the real limits about the request. */
  decision: Decision;
  /** A condition calls this when it changes the response. */
  touch(): void;
  /** Counts a late step that acts, and runs `change` in the transaction, which may repeat. False if the step was used up. */
  claim(change?: (sql: Transaction) => Promise<unknown>): Promise<boolean>;
  /** A fault calls this before it cuts the connection, or when the client disconnects: no response follows. May be called again. */
  cutOff(): void;
}

export interface FaultServices {
  db: Database;
  api: TargetApi;
  baseUrl: string;
  clock: () => number;
  hasDraftLimits: boolean;
  /** How a key gets higher limits, for refusals. */
  howToGetMore: string;
  /** Whether the request came through a proxy: its headers show it, or a proxy is configured. */
  isPassedOn(request: FastifyRequest): boolean;
  delayQueue: DelayQueue;
  openLinks: OpenLinks;
  log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
}

/** The last sentence of each fault that needs a direct connection. */
export const onlyDirect =
  'Requests through a proxy are not affected. If proxies are configured (`TRUST_PROXY`), no request is affected.';

/** Declares a fault, with types that follow from its parameters. By default it has none, and fits every operation. */
export function fault<const Name extends string, const P extends TProperties = Record<never, never>>(
  definition: Omit<
    Fault,
    'name' | 'parameters' | 'fits' | 'canTouch' | 'perform' | 'perMinute' | 'holdMs'
  > & {
    name: Name;
    parameters?: P;
    /** A load balancer would hide a broken connection from the client, and treat the instance as unhealthy, which affects other clients. */
    needsDirectConnection?: boolean;
    fits?: Fault['fits'];
    canTouch?: Fault['canTouch'];
    perMinute?(parameters: Static<TObject<P>>): number;
    holdMs?(parameters: Static<TObject<P>>): number;
    perform(
      invocation: Omit<FaultInvocation, 'parameters'> & { parameters: Static<TObject<P>> },
    ): Effect | undefined;
  },
) {
  const { needsDirectConnection, canTouch = () => true, ...rest } = definition;
  const direct: Partial<Fault> = needsDirectConnection
    ? {
        does: `${rest.does} ${onlyDirect}`,
        canTouch: (request, services) =>
          cameOverConnection(request.raw) && !services.isPassedOn(request) && canTouch(request, services),
      }
    : { canTouch };
  const declared = { parameters: {}, fits: () => true, ...rest, ...direct };
  return declared as unknown as Omit<Fault, 'name' | 'parameters'> & { name: Name; parameters: P };
}

/** An integer of 32 bits, such as a parameter of a fault. */
export const integer = (
  bounds: { minimum?: number; maximum?: number; default?: number },
  description: string,
  example = bounds.default,
) => Type.Integer({ format: 'int32', ...bounds, description, examples: [example] });

/** A parameter of a fault: one of several names. The first is the default. */
export const choice = <const Name extends string>(names: readonly [Name, ...Name[]], description: string) =>
  Type.Enum(names, { type: 'string', description, default: names[0], examples: [names[0]] });

/** For `fits`: operations that return pages. */
export const isList = ({ success }: Operation) => success.kind === 'page';
