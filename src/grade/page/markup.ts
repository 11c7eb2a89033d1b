import { escaped } from '../../lab/report/xml.ts';
import { printable } from '../../printable.ts';

/** Text that is markup already. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | number | undefined | false | readonly Part[];

/**
 * Markup with values in it. A value is shown as it is, whatever it holds, unless it is markup itself; several stand one after the
 * other, and undefined and false are nothing.
 */
export const html = (texts: TemplateStringsArray, ...parts: Part[]): Markup =>
  new Markup(texts.map((text, i) => text + (i < parts.length ? markupOf(parts[i]) : '')).join(''));

function markupOf(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (Array.isArray(part)) return part.map(markupOf).join('');
  return part === undefined || part === false ? '' : escaped(shown(String(part)));
}

/** What cannot be seen is shown, but for the ends of lines. */
const shown = (text: string) => text.split('\n').map(printable).join('\n');
