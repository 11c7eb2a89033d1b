import { Marked } from 'marked';
import { slugOf } from '../description/guide-names.ts';
import { escapeHtml } from './layout.ts';

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slugOf(plain(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    // Texts have no markup: what looks like it is shown.
    html: ({ text }) => escapeHtml(text),
  },
});

const plain = (text: string) => text.replaceAll('`', '');

/** Markdown as HTML. Headings have ids. */
export const blocks = (markdown: string) => marked.parse(markdown) as string;

/** One line of Markdown as HTML. */
export const inline = (markdown: string) => marked.parseInline(markdown) as string;
