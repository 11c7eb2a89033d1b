/**
 * Formats an integer that rarely repeats, such as a count or a new id. V8 caches the texts that `String` and templates make of numbers, and
 * moves them to the old space. Thousands a second would cause a collection of the whole heap every few seconds.
 */
export const digits = (integer: number): string => JSON.stringify(integer);
