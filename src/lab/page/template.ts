// The parts of lit-html that the page uses, and how the page shows text of the service, which anybody may have written.

import { html, nothing, type TemplateResult } from 'lit-html';
import { clockTime } from './times.ts';

export { html, nothing, render, svg, type TemplateResult } from 'lit-html';
export { live } from 'lit-html/directives/live.js';
export { repeat } from 'lit-html/directives/repeat.js';

export type View = TemplateResult | typeof nothing;

/** What `draw` makes of a value, unless the value is falsy. */
export const when = <Value, Drawn>(value: Value, draw: (value: NonNullable<Value>) => Drawn) =>
  value ? draw(value) : nothing;

/** Scripts whose words need invisible joiners (RFC 5892, appendix A). */
const joining = 'Arab Syrc Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh'.split(' ');
const joiner = `(?<=[[${joining.map((script) => `\\p{scx=${script}}`).join('')}]&&[\\p{L}\\p{M}]])[\\u200c\\u200d]`;

/** Characters that are invisible, or turn the text around them; not within an emoji, as a joiner, or as a variation selector. */
const hidden = new RegExp(
  `\\p{RGI_Emoji}|${joiner}|(${
    /[\p{Cc}\u2028\u2029[\p{Default_Ignorable_Code_Point}--\p{Variation_Selector}]]|(?<=^|\p{Default_Ignorable_Code_Point})\p{Variation_Selector}/v
      .source
  })`,
  'gv',
);

/** The text with hidden characters as their codes, cut after `max` characters. */
export function plain(text: string, max = 200): string {
  const cut = text.length > max ? `${text.slice(0, max).toWellFormed()}… (${text.length} characters)` : text;
  return cut.replace(hidden, (shown, character) => (character ? `\\u${codeOf(character)}` : shown));
}

const codeOf = (character: string) => (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');

/** Text with `code` between backticks. */
export const prose = (text: string): (string | TemplateResult)[] =>
  text.split('`').map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));

/** A time of day, in the time zone of the user. */
export function timeOf(at: string | number | Date): TemplateResult {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return html`${plain(String(at))}`;
  return html`<time datetime=${date.toISOString()} title=${date.toISOString()}>${clockTime(date)}</time>`;
}
