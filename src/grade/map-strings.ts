/** Copies JSON data and replaces each string with the result of `change`. */
export const mapStrings = <T>(data: T, change: (text: string) => string): T =>
  JSON.parse(JSON.stringify(data), (_, value) => (typeof value === 'string' ? change(value) : value));
