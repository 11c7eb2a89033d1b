const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // In an attribute, a parser would replace them by spaces.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Characters that XML 1.0 cannot hold: most control characters, lone surrogates, U+FFFE and U+FFFF. */
const unwritable = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Escapes a text for an element or attribute of XML or HTML. */
export const escapeXml = (text: string) =>
  text
    .replace(unwritable, '\u{fffd}')
    .replace(/[&<>"'\t\n\r]/g, (character) => entities[character] as string);
