/** Of a body, so many numbers are noted, each of at most so many characters. */
const [maxNumbers, maxLength] = [20, 40];

/** A body that is cut off may end within a string. */
const strings = /"(?:[^"\\]|\\.?)*(?:"|$)/gs;
const numbers = /\d[\d.]*(?:e\+?\d+)?/gi;
const isLong = /\d{15}/;

/** Numbers of a JSON text that a double may not hold exactly, as they are written, each once. What stands in strings is none. */
export function largeNumbersIn(text: string): string[] {
  // Most bodies have none, and need not be looked through.
  if (!isLong.test(text)) return [];
  const found = text.replace(strings, '').match(numbers) ?? [];
  const large = found.filter((number) => number.length <= maxLength && isLong.test(number));
  return [...new Set(large)].slice(0, maxNumbers);
}
