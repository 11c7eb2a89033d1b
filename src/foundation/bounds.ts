/** Bounds of every request. Texts use these constants. */

export const maxBodyBytes = 64 * 1024;

/** The request line and the headers together. */
export const maxHeaderBytes = 16 * 1024;

/** How many values a body may contain at any depth, counting lists and objects too. */
export const maxValues = 1_000;

/** How deep a body may be nested. JSON.parse allows more, but its limit depends on the stack. */
export const maxDepth = 500;

/** Formats an integer that rarely repeats. V8 caches what `String` makes, and thousands a second would fill the old space. */
export const digits = (integer: number): string => JSON.stringify(integer);
