/** Bounds of every request. Texts use these constants. */

export const maxBodyBytes = 64 * 1024;

/** The request line and the headers together. */
export const maxHeaderBytes = 16 * 1024;

/** How many values a body may contain at any depth, counting lists and objects too. */
export const maxValues = 1_000;

/** How deep a body may be nested. JSON.parse allows more, but its limit depends on the stack. */
export const maxDepth = 500;
