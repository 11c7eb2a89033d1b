import type { FastifyInstance } from 'fastify';
import { Marked } from 'marked';
import { formsOf } from '../../http/content-codings.ts';
import { serveDocument, serveDocuments } from '../../http/document.ts';
import { slugOf } from '../description/guide-names.ts';

/** A page below the root of the service. Its links are relative, so that the service can stand below a path of a proxy. */
interface StaticPage {
  path: string;
  title: string;
  /** One sentence, for search engines. */
  summary: string;
  /** The HTML of its content, which begins with a heading. */
  main: string;
  /** Where it is served as Markdown, too. */
  markdown?: string;
}

/** The list of pages at the side. */
export interface NavigationGroup {
  name: string;
  links: readonly { path: string; title: string; isDeprecated?: boolean }[];
}

/** What all pages of a service share. */
export interface Site {
  /** The public URL of the root, without a slash at the end. */
  rootUrl: string;
  hasLab: boolean;
  groups: readonly NavigationGroup[];
}

/** Markup that only the interactive reference has. */
export interface Additions {
  head: string;
  /** At the end of the header. */
  header: string;
  /** At the end of the body. */
  body: string;
}

const none: Additions = { head: '', header: '', body: '' };

/** Leads from the page at a path to the root. */
export const rootFrom = (path: string) => '../'.repeat(path.split('/').length - 2);

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for an element or a quoted attribute of HTML. */
export const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (sign) => entities[sign] as string);

/** A page in the look of the reference. Without additions it has no script. */
export function layout(
  { path, title, summary, main, markdown }: StaticPage,
  { rootUrl, hasLab, groups }: Site,
  { head, header, body } = none,
): string {
  const root = rootFrom(path);
  const asText = markdown && root + markdown.slice(1);
  const link = (to: string, text: string, attributes = '') =>
    `<a href="${root}${to}"${path === `/${to}` ? ' aria-current="page"' : ''}${attributes}>${escapeHtml(text)}</a>`;
  const list = groups.map(
    ({ name, links }) => `<h2>${escapeHtml(name)}</h2>
<ul>
${links.map((page) => `<li>${link(page.path, page.title, page.isDeprecated ? ' class="deprecated"' : '')}</li>`).join('\n')}
</ul>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(summary)}">
<title>${escapeHtml(title)} · Petstore</title>
<link rel="canonical" href="${escapeHtml(rootUrl + path)}">
<link rel="icon" href="${root}reference/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}reference/page.css">
${asText ? `<link rel="alternate" href="${asText}" type="text/markdown">\n` : ''}${head}</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="${root}reference">Petstore</a>
<nav aria-label="Site">
${link('reference', 'Reference')}
${link('reference/guides', 'Guides')}
${hasLab ? `${link('lab', 'Lab')}\n` : ''}${link('changelog', 'Changelog')}
<a class="to-contents" href="#contents">Contents</a>
</nav>
${header}</header>
<div class="columns">
<nav id="contents" tabindex="-1" aria-label="Reference">
${list.join('\n')}
</nav>
<main id="main" tabindex="-1">
${main.replaceAll(`href="${escapeHtml(rootUrl)}/`, `href="${root}`)}
${asText ? `<p class="as-text"><a href="${asText}">This page as Markdown</a></p>\n` : ''}</main>
</div>
${body}</body>
</html>
`;
}

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

/** The headers of a page without a script. It may load only its style sheet and its icon. */
export const staticPageFields = {
  mediaType: 'text/html; charset=utf-8',
  headers: {
    'content-security-policy':
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  },
};

type Content = Omit<StaticPage, 'path'>;

/** Serves a page without a script. The first request builds it. */
export const serveStaticPage = (
  app: FastifyInstance,
  site: Site,
  path: string,
  make: () => Content | Promise<Content>,
): void =>
  serveDocument(app, {
    ...staticPageFields,
    path,
    forms: async () => formsOf(layout({ path, ...(await make()) }, site)),
  });

/** Pages below a path. */
export interface PageGroup {
  path: string;
  names: readonly string[];
}

/** Serves such a page for each name of a group. */
export const serveStaticPages = (
  app: FastifyInstance,
  site: Site,
  { path: start, names }: PageGroup,
  make: (name: string, path: string) => Content | Promise<Content>,
): void =>
  serveDocuments(app, {
    ...staticPageFields,
    path: start,
    names,
    formsOf: async (name) => {
      const path = `${start}/${name}`;
      return formsOf(layout({ path, ...(await make(name, path)) }, site));
    },
  });
