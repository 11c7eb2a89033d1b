/** `character` as it is, or percent-encoded any number of times, as the two `hexadecimal` digits tell. */
const orEncoded = (character: string, hexadecimal: string) => `(?:${character}|%(?:25)*${hexadecimal})`;

const prefixOfKeys = [
  orEncoded('p', '70'),
  orEncoded('e', '65'),
  orEncoded('t', '74'),
  orEncoded('_', '5[Ff]'),
].join('');

/** The letters and digits of ASCII, and nothing else: more would take the beginning of a key for the end of another. */
const encodedDigit = '(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])';

/** API keys in any text, a URL too. */
const keysInText = new RegExp(`${prefixOfKeys}${orEncoded('[0-9A-Za-z]', encodedDigit)}{36}`, 'g');

/** The password in an address such as DATABASE_URL. */
const passwordsInText = /(:\/\/[^\s/:@"]*):[^\s/@"]*@/g;

/** The text with `pet_***` in place of each API key. */
export const withoutKeys = (text: string) => text.replace(keysInText, 'pet_***');

/** The text without API keys, and without passwords of addresses. */
export const withoutSecrets = (text: string) => withoutKeys(text).replace(passwordsInText, '$1:***@');
