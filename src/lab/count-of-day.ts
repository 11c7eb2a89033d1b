import { type Fragment, fragment, identifier } from '../db/sql.ts';
import { dayMs } from '../foundation/time.ts';

/** Adds to the count of the present day (UTC), in an `update` of the row that has it. */
export function addToDay(counted: 'resets' | 'recorded', count: number, nowMs: number): Fragment {
  const [sum, day] = [identifier(`${counted}_count`), identifier(`${counted}_day`)];
  const today = Math.floor(nowMs / dayMs);
  return fragment`${sum} = case when ${day} = ${today} then ${sum} else 0 end + ${count}, ${day} = ${today}`;
}
