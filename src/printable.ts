/**
 * Characters that a terminal might obey instead of showing them, and others that are not seen but change what is, such as
 * the direction of text.
 */
export const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The text with unprintable characters as JSON can write them. */
export const printable = (text: string) => text.replace(unprintable, escaped);

/** The same with blanks of any kind. */
export const oneWord = (text: string) => printable(text).replace(/\s/g, escaped);

const escaped = (character: string) =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
