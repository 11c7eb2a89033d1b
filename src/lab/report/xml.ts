const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // A parser would make spaces of them in an attribute.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** What XML 1.0 has no way to write: most control characters, halves of surrogate pairs, and two that are no characters. */
const unwritable = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** A text within an element or an attribute of XML. HTML reads it alike. */
export const escaped = (text: string) =>
  text
    .replace(unwritable, '\u{fffd}')
    .replace(/[&<>"'\t\n\r]/g, (character) => entities[character] as string);
