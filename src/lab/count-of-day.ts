import { type Fragment, fragment, identifier } from '../db/sql.ts';
import { dayMs } from '../foundation/time.ts';

/** What the lab counts for each day (UTC), in the columns `…_day` and `…_count`. */
type Counted = 'resets' | 'recorded';

const dayOf = (nowMs: number) => Math.floor(nowMs / dayMs);

/** The count of today, in a row of the table that has it. */
export const countOfDay = (counted: Counted, nowMs: number): Fragment =>
  fragment`case when ${identifier(`${counted}_day`)} = ${dayOf(nowMs)} then ${identifier(`${counted}_count`)} else 0 end`;

/** The part of an `update` that adds to the count of today. */
export const addToDay = (counted: Counted, count: number, nowMs: number): Fragment =>
  fragment`${identifier(`${counted}_count`)} = ${countOfDay(counted, nowMs)} + ${count}, ${identifier(`${counted}_day`)} = ${dayOf(nowMs)}`;
