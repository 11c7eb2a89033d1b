import type { Static, TObject } from 'typebox';
import { banned } from './banned.ts';
import { conflict } from './conflict.ts';
import { delay } from './delay.ts';
import { emptyPage } from './empty-page.ts';
import { keyInUse } from './key-in-use.ts';
import { largeIds } from './large-ids.ts';
import { linkOdd, nextAway } from './links.ts';
import { lostAnswer } from './lost-answer.ts';
import { moved, movedAway } from './moved.ts';
import { nearLimit } from './near-limit.ts';
import { newFields } from './new-fields.ts';
import { newStatus } from './new-status.ts';
import { noAnswer } from './no-answer.ts';
import { clockAhead, rateLimited, rateLimitedDate } from './rate-limited.ts';
import { reset } from './reset.ts';
import { samePage } from './same-page.ts';
import { badGateway, gatewayTimeout, internalError, retryAfterOdd, unavailable } from './server-errors.ts';
import type { Fault } from './shared/fault.ts';
import { slow } from './slow.ts';
import { smallPages } from './small-pages.ts';
import { staleConnection } from './stale-connection.ts';
import { staleRead } from './stale-read.ts';
import { stall } from './stall.ts';
import { streamCut, streamExpired, streamPieces, streamSilent } from './streams.ts';
import { sunset } from './sunset.ts';
import { truncated } from './truncated.ts';
import { unauthorized } from './unauthorized.ts';

const all = [
  rateLimited,
  rateLimitedDate,
  clockAhead,
  nearLimit,
  banned,
  unavailable,
  internalError,
  badGateway,
  gatewayTimeout,
  stall,
  noAnswer,
  retryAfterOdd,
  keyInUse,
  unauthorized,
  reset,
  lostAnswer,
  truncated,
  slow,
  delay,
  staleConnection,
  conflict,
  smallPages,
  emptyPage,
  moved,
  movedAway,
  samePage,
  nextAway,
  linkOdd,
  staleRead,
  streamCut,
  streamPieces,
  streamSilent,
  streamExpired,
  largeIds,
  newFields,
  newStatus,
  sunset,
] as const;

type Declared = (typeof all)[number];

/** Every fault, in the order of the catalogue. */
export const faults: readonly Fault[] = all;

export type FaultName = Declared['name'];
export const faultNames: string[] = all.map(({ name }) => name);

/** The parameters of a fault. */
export type ParametersOf<Name extends FaultName> = Partial<
  Static<TObject<Extract<Declared, { name: Name }>['parameters']>>
>;

/** The names of the faults for which `isSuch` is true. */
export const faultsThat = (isSuch: (fault: Fault) => boolean | undefined): string[] =>
  faults.filter(isSuch).map(({ name }) => name);

export const connectionFaults = faultsThat(({ endsConnection }) => endsConnection);

export const faultNamed = (name: string): Fault | undefined => faults.find((fault) => fault.name === name);
