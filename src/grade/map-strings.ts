/** A copy of JSON data in which `change` has replaced each string, at any depth. */
export const mapStrings = <T>(data: T, change: (text: string) => string): T =>
  JSON.parse(JSON.stringify(data), (_, value) => (typeof value === 'string' ? change(value) : value));
