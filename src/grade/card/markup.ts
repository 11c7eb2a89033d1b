import { escapeXml } from '../../foundation/escape-xml.ts';
import { escapeLines } from '../../foundation/terminal-text.ts';

/** HTML that needs no escaping. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | number | undefined | false | readonly Part[];

/** A template tag for HTML. It escapes values, except `Markup`, joins arrays, and leaves out undefined and false. */
export const html = (texts: TemplateStringsArray, ...parts: Part[]): Markup =>
  new Markup(texts.map((text, i) => text + (i < parts.length ? markupOf(parts[i]) : '')).join(''));

function markupOf(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (Array.isArray(part)) return part.map(markupOf).join('');
  return part === undefined || part === false ? '' : escapeXml(escapeLines(String(part)));
}
