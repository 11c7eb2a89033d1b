/** Parses JSON. Integers beyond 2^53 become bigints. */
// biome-ignore lint/suspicious/noExplicitAny: tests read bodies of any shape
export function parseExactly(text: string): any {
  return JSON.parse(text, (_name, value, { source } = {} as { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
      ? BigInt(source as string)
      : value,
  );
}

/** Serializes JSON. Bigints become integers. */
export const writeExactly = (value: unknown): string =>
  JSON.stringify(value, (_name, part) =>
    typeof part === 'bigint'
      ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(part))
      : part,
  );
