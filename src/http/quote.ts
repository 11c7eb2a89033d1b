import { withoutKeys } from '../redact.ts';

const maxLength = 100;

/** A caller's text for a message: in quotes, without keys, and cut if it is long. */
export function quote(text: string): string {
  // Keys are removed before cutting: half a key would not be recognized.
  const shown = withoutKeys(text);
  return JSON.stringify(shown.length <= maxLength ? shown : `${shown.slice(0, maxLength)}…`.toWellFormed());
}
