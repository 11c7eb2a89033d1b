/**
 * Characters that a terminal might execute instead of printing them, and invisible ones, such as those that change the direction of
 * text.
 */
export const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Escapes unprintable characters as in JSON. */
export const escapeTerminal = (text: string) => text.replace(unprintable, escaped);

/** Escapes unprintable characters and white space. */
export const escapeWord = (text: string) => escapeTerminal(text).replace(/\s/g, escaped);

const escaped = (character: string) =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
