import type { Place } from './grade.ts';

/** The name of the runs without faults. */
export const withoutFaults = 'without faults';

/** `1st`, `2nd`, `11th`. */
export function nth(count: number): string {
  const ending = /1\d$/.test(String(count)) ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[count % 10];
  return `${count}${ending ?? 'th'}`;
}

/** The name of a run, whatever the program uses: `lost-answer, first use`. */
export function runName(fault: string, place: Place): string {
  if (place === 'whole') return fault;
  return `${fault}, ${typeof place === 'number' ? nth(place) : place} use`;
}
