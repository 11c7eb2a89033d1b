import { escapeTerminal } from './terminal-text.ts';
import { cut } from './words.ts';

/** The start of a JSON escape of an ASCII character. It matches all backslashes at once, because an attempt at each would be slow. */
const jsonEscape = String.raw`(?<!\\)\\+u00`;

/** A pattern for `character`, plain or as an escape of JSON of its two `hexadecimal` digits. */
const orEscaped = (character: string, hexadecimal: string) => `(?:${character}|${jsonEscape}${hexadecimal})`;

/** The same, or percent-encoded any number of times. */
const orEncoded = (character: string, hexadecimal: string) =>
  orEscaped(`${character}|%(?:25)*${hexadecimal}`, hexadecimal);

const underscore = orEncoded('_', '5[Ff]');
/** A pattern for `letters` with an underscore after them. */
const prefix = (letters: string) =>
  [...letters].map((letter) => orEncoded(letter, letter.charCodeAt(0).toString(16))).join('') + underscore;

/** A letter or digit of ASCII. */
const digit = orEncoded('[0-9A-Za-z]', '(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])');

/** API keys in any text, including URLs. The beginning of a second key that follows without a space matches as the end of the first. */
const keysInText = new RegExp(`${prefix('pet')}${digit}{36}(?:${digit}|${underscore})*`, 'g');

/** Codes of invites in any text, including URLs. */
const codesInText = new RegExp(`${prefix('inv')}${digit}{16}(?:${digit}|${underscore})*`, 'g');

/** A slash, before which JSON may have a backslash. */
const plainSlash = String.raw`\\*/`;

/** A character of Base64 in either alphabet. */
const base64 = `(?:${digit}|${orEncoded(`[-+_=]|${plainSlash}`, '(?:2[BbDdFf]|3[Dd]|5[Ff])')})`;

/** Secrets of webhooks in any text. */
const webhookSecretsInText = new RegExp(`${prefix('whsec')}${base64}{24,}`, 'g');

const colon = orEscaped(':', '3[Aa]');
const slash = orEscaped(plainSlash, '2[Ff]');
const at = orEscaped('@', '40');
/** A pattern for the characters of an address, without these characters and without escapes with these hexadecimal digits. */
const partOf = (characters: string, hexadecimal: string) =>
  String.raw`(?:[^\s"\\${characters}]|\\+(?!\\|u00(?:${hexadecimal})))*`;

/** The password in an address such as DATABASE_URL. */
const passwordsInText = new RegExp(
  `(${colon}${slash}{2}${partOf('/:@', '2[Ff]|3[Aa]|40')})${colon}${partOf('/@', '2[Ff]|40')}${at}`,
  'g',
);

/** A percent sign, which may itself be percent-encoded up to four times. Without this bound a hostile text would take long to search. */
const percent = '(%(?:25){0,4})';
/** The percent sign in the form of this address: group 2 from its colon, or group 3 from its slashes. */
const same = String.raw`(?:\2\3)`;
const encodedPartOf = (characters: string, hexadecimal: string) =>
  String.raw`(?:[^\s"&/%${characters}]|(?!${same}(?:${hexadecimal}))%)*`;

/** The password in an address that is percent-encoded. Not every encoder encodes each colon, slash and at sign. */
const encodedPasswordsInText = new RegExp(
  `((?:${percent}3[Aa](?:/|${same}2[Ff]){2}|:${percent}2[Ff]${same}2[Ff])${encodedPartOf(':@', '2[Ff]|3[Aa]|40')})` +
    `(?::|${same}3[Aa])${encodedPartOf('@', '2[Ff]|40')}(?:@|${same}40)`,
  'g',
);

/** The password of Sentinels in an address such as VALKEY_URL. JSON writes a backslash as two. A single backslash escapes a quote. */
const sentinelPasswordsInText = new RegExp(
  String.raw`(sentinel${underscore}password${orEncoded('=', '3[Dd]')})(?:\\[\\/u]|[^\s&"\\])*`,
  'g',
);

/** Matches every text that a pattern above matches, and nearly no other line of a log. So it saves their cost. */
const hint = /pet_|inv_|whsec_|%|:\/\/|\\u00|\\\//;

/** The text with `pet_***` in place of each API key, `inv_***` of each code of an invite, and `whsec_***` of each secret of a webhook. */
export const withoutKeys = (text: string) =>
  text
    .replace(keysInText, 'pet_***')
    .replace(codesInText, 'inv_***')
    .replace(webhookSecretsInText, 'whsec_***');

/** The text without API keys, without codes of invites, without secrets of webhooks, and without passwords of addresses. */
export const withoutSecrets = (text: string) =>
  hint.test(text)
    ? withoutKeys(text)
        .replace(sentinelPasswordsInText, '$1***')
        .replace(passwordsInText, '$1:***@')
        .replace(encodedPasswordsInText, '$1:***@')
    : text;

/** A text for a terminal: without secrets, escaped, and cut after `most` characters. */
export const safeText = (text: string, most: number) => cut(escapeTerminal(withoutSecrets(text)), most);

/** Removes what may be the rest of a secret from a text whose beginning was cut. No secret contains white space or a quote. */
export const withoutCutBeginning = (text: string) => text.replace(/^[^\s"]*/, '…');

/** The same for a text whose end was cut off. */
export const withoutCutEnd = (text: string) => text.replace(/(?<![^\s"])[^\s"]*$/, '…');

const maxQuoted = 100;

/** A caller's text for a response: without keys, and cut if it is long. */
export function shortened(text: string): string {
  // Keys are removed before cutting: half a key would not be recognized.
  const shown = withoutKeys(text);
  return cut(shown, maxQuoted);
}

/** The same in quotes, for a message. */
export const quote = (text: string) => JSON.stringify(shortened(text));
