import { withoutKeys } from '../redact.ts';

const maxLength = 100;

/** A caller's text as it may stand in a message: in quotes, without keys, and cut where it is long. */
export function quote(text: string): string {
  // Half a key would no longer be known as one.
  const shown = withoutKeys(text);
  return JSON.stringify(shown.length <= maxLength ? shown : `${shown.slice(0, maxLength)}…`.toWellFormed());
}
