/** A pattern for `character`, plain or percent-encoded any number of times as its two `hexadecimal` digits. */
const orEncoded = (character: string, hexadecimal: string) => `(?:${character}|%(?:25)*${hexadecimal})`;

const underscore = orEncoded('_', '5[Ff]');
/** A pattern for `letters` with an underscore after them. */
const prefix = (letters: string) =>
  [...letters].map((letter) => orEncoded(letter, letter.charCodeAt(0).toString(16))).join('') + underscore;

/** A letter or digit of ASCII. */
const digit = orEncoded('[0-9A-Za-z]', '(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])');

/** API keys in any text, a URL too. The text after a key may be another key, whose beginning was taken for the end of the first. */
const keysInText = new RegExp(`${prefix('pet')}${digit}{36}(?:${digit}|${underscore})*`, 'g');

/** A character of Base64 in either alphabet. */
const base64 = `(?:${digit}|${orEncoded('[-+/_=]', '(?:2[BbDdFf]|3[Dd]|5[Ff])')})`;

/** Secrets of webhooks in any text. */
const webhookSecretsInText = new RegExp(`${prefix('whsec')}${base64}{24,}`, 'g');

/** The password in an address such as DATABASE_URL. */
const passwordsInText = /(:\/\/[^\s/:@"]*):[^\s/@"]*@/g;

/** The password of Sentinels in an address such as VALKEY_URL. In JSON a backslash is two, and one before a quote is the quote's. */
const sentinelPasswordsInText = /(sentinel_password=)(?:\\\\|[^\s&"\\])*/g;

/**
 * What stands in every text that one of the patterns above finds something in. Nearly no line of a log has it, and to look for it
 * costs less than the patterns do.
 */
const hint = /pet_|whsec_|%|:\/\//;

/** The text with `pet_***` in place of each API key, and `whsec_***` in place of each secret of a webhook. */
export const withoutKeys = (text: string) =>
  text.replace(keysInText, 'pet_***').replace(webhookSecretsInText, 'whsec_***');

/** The text without API keys, without secrets of webhooks, and without passwords of addresses. */
export const withoutSecrets = (text: string) =>
  hint.test(text)
    ? withoutKeys(text).replace(passwordsInText, '$1:***@').replace(sentinelPasswordsInText, '$1***')
    : text;
