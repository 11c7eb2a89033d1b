/**
 * The JSON text of a representation, as it is sent and as its ETag names it. It ends with a newline, so that the prompt of a
 * terminal stands on a line of its own.
 */
export const jsonText = (value: unknown): string => `${JSON.stringify(value)}\n`;
