/** Bounds of every request. Texts that name a bound take it from here. */

export const maxBodyBytes = 64 * 1024;

/** Of the request line and the header fields together. */
export const maxHeaderBytes = 16 * 1024;

/** How many values a body may hold, at any depth: lists and objects count, and what is in them. */
export const maxValues = 1_000;

/** How deep a body may be nested. JSON.parse takes more, but how much more depends on the stack. */
export const maxDepth = 500;

/** A number as texts write it, such as `1,000`. `toLocaleString` would take a hundredth of a second at the start. */
export const grouped = (number: number) => String(number).replaceAll(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ',');

/** A size as texts write it, such as `64 KiB`. */
export const kibibytes = (bytes: number) => `${grouped(bytes / 1024)} KiB`;
