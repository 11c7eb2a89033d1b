/**
 * The digits of an integer that hardly occurs twice: a count, a new id. V8 caches what `String` and templates make of numbers, and moves
 * these texts to the old space. Thousands a second lead to a collection of the whole heap every few seconds.
 */
export const digits = (integer: number): string => JSON.stringify(integer);
