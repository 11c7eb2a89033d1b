/**
 * Characters that a terminal might obey instead of showing them, and others that are not seen but change what is, such as
 * the direction of text.
 */
export const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The text with unprintable characters as JSON can write them. */
export const printable = (text: string) =>
  text.replace(unprintable, (character) => character.split('').map(escaped).join(''));

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
