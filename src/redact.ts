/** A pattern for `character`, plain or percent-encoded any number of times as its two `hexadecimal` digits. */
const orEncoded = (character: string, hexadecimal: string) => `(?:${character}|%(?:25)*${hexadecimal})`;

const underscore = orEncoded('_', '5[Ff]');
const prefixOfKeys = [orEncoded('p', '70'), orEncoded('e', '65'), orEncoded('t', '74'), underscore].join('');

/** A letter or digit of ASCII. */
const digit = orEncoded('[0-9A-Za-z]', '(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])');

/** API keys in any text, a URL too. The text after a key may be another key, whose beginning was taken for the end of the first. */
const keysInText = new RegExp(`${prefixOfKeys}${digit}{36}(?:${digit}|${underscore})*`, 'g');

/** The password in an address such as DATABASE_URL. */
const passwordsInText = /(:\/\/[^\s/:@"]*):[^\s/@"]*@/g;

/** The text with `pet_***` in place of each API key. */
export const withoutKeys = (text: string) => text.replace(keysInText, 'pet_***');

/** The text without API keys, and without passwords of addresses. */
export const withoutSecrets = (text: string) => withoutKeys(text).replace(passwordsInText, '$1:***@');
