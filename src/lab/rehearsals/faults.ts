import type { Fault } from './fault.ts';
import { lostAnswer, reset, staleConnection, truncated } from './faults/cuts.ts';
import { largeIds } from './faults/large-ids.ts';
import { newFields, newStatus } from './faults/later-version.ts';
import { conflict } from './faults/other-writer.ts';
import { emptyPage, smallPages } from './faults/pages.ts';
import {
  banned,
  internalError,
  nearLimit,
  rateLimited,
  rateLimitedDate,
  sunset,
  unavailable,
} from './faults/refusals.ts';
import { delay, slow } from './faults/waits.ts';

const all = [
  rateLimited,
  rateLimitedDate,
  nearLimit,
  banned,
  unavailable,
  internalError,
  reset,
  lostAnswer,
  truncated,
  slow,
  delay,
  staleConnection,
  conflict,
  smallPages,
  emptyPage,
  largeIds,
  newFields,
  newStatus,
  sunset,
] as const;

type Declared = (typeof all)[number];

/** Every fault, in the order in which they are listed. */
export const faults: readonly Fault[] = all;

export type FaultName = Declared['name'];
export const faultNames: string[] = all.map(({ name }) => name);

/** The parameters of a fault. */
export type ParametersOf<Name extends FaultName> = {
  [Parameter in keyof Extract<Declared, { name: Name }>['parameters']]?: number;
};

export const faultNamed = (name: string): Fault | undefined => faults.find((fault) => fault.name === name);
