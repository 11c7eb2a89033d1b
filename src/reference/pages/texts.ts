import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { command } from '#distribution';
import { escapeXml } from '../../foundation/escape-xml.ts';
import { plans } from '../../foundation/settings/plans.ts';
import { version } from '../../foundation/version.ts';
import { firstSentence, grouped } from '../../foundation/words.ts';
import { formsFromThread, formsOf } from '../../http/content-codings.ts';
import { serveDocument } from '../../http/document.ts';
import type { Operation } from '../../http/operation.ts';
import { accountsPrefix, labPrefix, prefix, referenceUrl } from '../../http/target.ts';
import { successorOf } from '../../observe/deprecation.ts';
import { events } from '../../store/events/schema.ts';
import { type Guide, guidePath, guidePaths } from '../description/guide-names.ts';
import { guides, guideText } from '../description/guides.ts';
import { errorList, inCode, toMarkdown } from '../description/markdown.ts';
import { exampleOf, type JsonObject } from '../description/schemas.ts';
import { descriptionPaths } from '../description/serve-description.ts';
import { layout, type Site, staticPageFields } from './static-page.ts';

/** The paths of all texts. */
export const textPaths = (hasLab: boolean) => [
  '/llms.txt',
  '/llms-full.txt',
  '/changelog',
  '/changelog.md',
  '/robots.txt',
  '/sitemap.xml',
  ...guidePaths(hasLab),
];

const markdown = 'text/markdown; charset=utf-8';
const plain = 'text/plain; charset=utf-8';

interface TextSources {
  baseUrl: string;
  /** Undefined without a lab. */
  labUrl: string | undefined;
  operations: readonly Operation[];
  description: () => Promise<JsonObject>;
  site: Site;
  /** The paths of all pages for search engines. */
  pages: readonly string[];
}

/** Serves llms.txt, the guides, the changelog and robots.txt: for assistants, crawlers, and readers of plain text. */
export function serveTexts(app: FastifyInstance, sources: TextSources): void {
  const { baseUrl, labUrl, operations, description, site, pages } = sources;
  const { rootUrl } = site;
  const serve = (path: string, mediaType: string, text: () => string | Promise<string>) =>
    serveDocument(app, { path, mediaType, forms: async () => formsOf(await text()) });

  const hasLab = labUrl !== undefined;
  for (const [i, path] of guidePaths(hasLab).entries())
    serve(path, markdown, () => guideText(guides(baseUrl, hasLab)[i] as Guide, rootUrl));
  const urls = { baseUrl, rootUrl, labUrl };
  serve('/llms.txt', plain, () => overview(urls, operations));
  serve('/llms-full.txt', plain, async () => fullText(urls, await description()));
  serve('/robots.txt', plain, () =>
    robots(rootUrl, [prefix, accountsPrefix, ...(hasLab ? [labPrefix] : [])]),
  );
  serve('/sitemap.xml', 'application/xml; charset=utf-8', () => sitemap(rootUrl, pages));
  serve('/changelog.md', markdown, changelog);
  serveDocument(app, {
    ...staticPageFields,
    path: '/changelog',
    forms: async () => {
      const files = { path: '/changelog', markdown: '/changelog.md' };
      const page = { ...files, title: 'Changelog', summary: 'What changed in Petstore.', main: '' };
      const data = JSON.stringify({ page: layout(page, site), text: await changelog() });
      return formsFromThread(new URL('./changelog-thread.ts', import.meta.url), data);
    },
  });
}

const changelog = () => readFile(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');

const summary =
  'A realistic demo API: a pet store over HTTP with JSON. It has categories, orders, stock, exact rate limits, and events as a list, a stream and webhooks.';

const essentials = (baseUrl: string, labUrl: string | undefined) => `- Base URL: ${baseUrl}
- Every request carries an API key, as \`Authorization: Bearer KEY\` or \`X-API-Key: KEY\`. The operator of the service has one in
  \`petstore-data/demo.key\`, or creates one: \`${command} keys create --plan free\`. With an invite you get one yourself, as the guide "Get a key" says.
- A list is a JSON array. While \`Link\` has \`rel="next"\`, request the next page with the \`cursor\` of that link.
- Repeat a POST only with the same \`Idempotency-Key\`.
- An error is \`{"code", "message", "status"}\`, or a problem (RFC 9457) if \`Accept\` is \`application/problem+json\`. After 429, 403 \`key_banned\` and 503, wait as many seconds as \`Retry-After\` says.${labUrl ? `\n- [The lab](${labUrl}/openapi.json) simulates limits, bans, failures and broken connections for your key, so that you can test a client.` : ''}`;

interface Urls extends Pick<TextSources, 'baseUrl' | 'labUrl'> {
  rootUrl: string;
}

/** Everything that a first client needs, in the form of llmstxt.org: below a heading of level 2 it has only lists of links, each in one line. */
const overview = ({ baseUrl, rootUrl, labUrl }: Urls, operations: readonly Operation[]) => `# Petstore API

> ${summary}

${essentials(baseUrl, labUrl)}

**Operations.** Paths are relative to the base URL. Bodies are JSON, shown as examples.

${operations.map((operation) => operationLine(operation, operations)).join('\n')}

**Limits**

- Requests per minute and per day: ${quotas()}.
- \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (Unix seconds) of every response describe the window with
  fewer requests left. A client that keeps sending after 429 is banned: 403 \`key_banned\`.

**Errors**

${errorList()}

**Events.** Each change is an event: \`{"id", "type", "timestamp", "requestId", "data"}\`, and \`previous\` after an update. Ids are 1, 2, 3 and so
on: save the last one, and request the events after it. The list, the stream and webhooks have the same events, of these types:

${events.map(({ type, meaning }) => `- \`${type}\`: ${firstSentence(meaning)[0]}`).join('\n')}

## Guides

${guideList(baseUrl, rootUrl, labUrl !== undefined)}

## Reference

- [All operations and schemas](${rootUrl}/llms-full.txt): one text, without samples
- [OpenAPI description](${baseUrl}/openapi.json): complete, with samples and guides; also as [YAML](${baseUrl}/openapi.yaml), and in [OpenAPI 3.1](${baseUrl}/openapi-3.1.json) and [3.2](${baseUrl}/openapi-3.2.json)
- [OpenAPI description of accounts](${rootUrl}/accounts/openapi.json): get a key, change its plan and its secret
- [AsyncAPI description](${baseUrl}/asyncapi.json): the stream of events, and webhooks; also as [YAML](${baseUrl}/asyncapi.yaml)
- [Arazzo workflows](${baseUrl}/arazzo.yaml): what a good client does, step by step${labUrl ? `; with failures in [a second document](${labUrl}/arazzo.yaml)` : ''}
- [Reference](${referenceUrl(baseUrl)}): for browsers. Each operation has a page, by its \`operationId\` in the description: [all operations](${referenceUrl(baseUrl)}/operations), such as [createPet](${referenceUrl(baseUrl)}/operations/createPet)

## Optional

- [Changelog](${rootUrl}/changelog.md): what changed in Petstore
`;

/** The description of an operation, its parameters, and the body of its example. */
function operationLine(operation: Operation, operations: readonly Operation[]): string {
  const { method, path, description, query, body, deprecated } = operation;
  const successor = deprecated && successorOf(operation, operations);
  return [
    `- \`${method} ${path}\`: ${firstSentence(description)[0]}`,
    ...(Object.keys(query).length > 0 ? [`Query: ${inCode(Object.keys(query))}.`] : []),
    ...(body ? [`Body: \`${JSON.stringify(exampleOf(body, true))}\`.`] : []),
    ...(successor ? [`Deprecated: use \`${successor.method} ${successor.path}\`.`] : []),
  ].join(' ');
}

const quotas = () =>
  Object.entries(plans)
    .flatMap(([plan, quota]) =>
      quota ? [`\`${plan}\` ${grouped(quota.perMinute)} and ${grouped(quota.perDay)}`] : [],
    )
    .join(', ');

function guideList(baseUrl: string, rootUrl: string, hasLab: boolean): string {
  const lineOf = (guide: Guide) =>
    `- [${guide.name}](${rootUrl}${guidePath(guide)}): ${firstSentence(guide.description)[0]}`;
  return guides(baseUrl, hasLab).map(lineOf).join('\n');
}

const fullText = ({ baseUrl, rootUrl, labUrl }: Urls, description: JsonObject) => `# Petstore API ${version}

> ${summary}

${essentials(baseUrl, labUrl)}
- The [guides](${rootUrl}/llms.txt) explain the rest.

${toMarkdown(description)}
`;

/** Crawlers read it only at the root of a host. Behind a path prefix the proxy must serve it there. */
function robots(rootUrl: string, starts: string[]): string {
  const root = new URL(rootUrl).pathname.replace(/\/$/, '');
  const rules = starts.flatMap((start) => [
    ...descriptionPaths(start).map((path) => `Allow: ${root}${path}`),
    `Disallow: ${root}${start}/`,
  ]);
  return `User-agent: *\n${rules.join('\n')}\n\nSitemap: ${rootUrl}/sitemap.xml\n`;
}

/** The pages for search engines, in the form of sitemaps.org. */
const sitemap = (rootUrl: string, paths: readonly string[]) => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => `<url><loc>${escapeXml(rootUrl + path)}</loc></url>`).join('\n')}
</urlset>
`;
