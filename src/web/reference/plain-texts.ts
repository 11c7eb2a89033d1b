import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { command } from '#distribution';
import { type Guide, guidePath, guidePaths, guides } from '../../description/guides.ts';
import { toMarkdown } from '../../description/markdown.ts';
import type { JsonObject } from '../../description/schemas.ts';
import { referenceUrl } from '../../foundation/reference-url.ts';
import { version } from '../../foundation/version.ts';
import { formsFromThread, formsOf } from '../../http/content-codings.ts';
import { serveDocument } from '../../http/document.ts';

/** The paths of all plain texts. */
export const textPaths = (hasLab: boolean) => [
  '/llms.txt',
  '/llms-full.txt',
  '/changelog',
  '/changelog.md',
  '/robots.txt',
  ...guidePaths(hasLab),
];

const markdown = 'text/markdown; charset=utf-8';
const plain = 'text/plain; charset=utf-8';

interface Parts {
  baseUrl: string;
  /** Undefined without a lab. */
  labUrl: string | undefined;
  description: () => JsonObject;
}

/** Serves llms.txt, the guides, the changelog and robots.txt: for assistants, crawlers, and readers of plain text. */
export function serveTexts(app: FastifyInstance, { baseUrl, labUrl, description }: Parts): void {
  const rootUrl = baseUrl.replace(/\/v1$/, '');
  const serve = (path: string, mediaType: string, text: () => string | Promise<string>) =>
    serveDocument(app, { path, mediaType, forms: async () => formsOf(await text()) });

  const hasLab = labUrl !== undefined;
  for (const [i, path] of guidePaths(hasLab).entries()) {
    serve(path, markdown, () => guideText(guides(baseUrl, hasLab)[i] as Guide, rootUrl));
  }
  serve('/llms.txt', plain, () => overview(baseUrl, rootUrl, labUrl));
  serve('/llms-full.txt', plain, () => fullText(baseUrl, rootUrl, description(), labUrl));
  serve('/robots.txt', plain, () => robots([baseUrl, ...(labUrl ? [labUrl] : [])]));
  serve('/changelog.md', markdown, changelog);
  serveDocument(app, {
    path: '/changelog',
    mediaType: 'text/html; charset=utf-8',
    forms: async () => formsFromThread(new URL('./changelog-thread.ts', import.meta.url), await changelog()),
    headers: {
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    },
  });
}

const changelog = () => readFile(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');

/** A guide as a document of its own. In the reference its sections are below the heading of a tag. */
const guideText = ({ name, description }: Guide, rootUrl: string) =>
  `# ${name}

${raiseHeadings(description)}

---

[All guides and documents of this API](${rootUrl}/llms.txt)
`;

/** Raises headings by one level, but not in code blocks. */
const raiseHeadings = (text: string) =>
  text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, i) => (i % 2 === 0 ? part.replaceAll(/^###/gm, '##') : part))
    .join('');

const summary =
  'A demonstration API that behaves like a real one: a pet store over HTTP with JSON, with categories, orders and stock, limits that hold, and a history of events as a list, a stream and webhooks.';

const essentials = (baseUrl: string, labUrl: string | undefined) => `- Base URL: ${baseUrl}
- Every request carries an API key, as \`Authorization: Bearer KEY\` or \`X-API-Key: KEY\`. Whoever runs the service has one in
  \`data/demo.key\`, or creates it: \`${command} keys create --plan free\`.
- Lists are arrays; while \`Link\` has \`rel="next"\`, take the \`cursor\` out of it. Repeat a POST only with the same \`Idempotency-Key\`.
- A refused request is answered with \`{"code", "message", "status"}\`. After 429, 403 \`key_banned\` and 503 wait for \`Retry-After\`.${labUrl ? `\n- [The lab](${labUrl}/openapi.json) performs limits, bans, failures and broken connections for a key that asks, so that a client can be tested.` : ''}`;

/** The table of contents in the form of llmstxt.org. */
const overview = (baseUrl: string, rootUrl: string, labUrl: string | undefined) => `# Petstore API

> ${summary}

${essentials(baseUrl, labUrl)}

## Guides

${guideList(baseUrl, rootUrl, labUrl !== undefined)}

## Reference

- [All operations and schemas](${rootUrl}/llms-full.txt): one text, without samples
- [OpenAPI description](${baseUrl}/openapi.json): complete, with samples and guides; also as [YAML](${baseUrl}/openapi.yaml)
- [Interactive reference](${referenceUrl(baseUrl)}): for browsers

## Optional

- [Changelog](${rootUrl}/changelog.md): what changed in Petstore
`;

const guideList = (baseUrl: string, rootUrl: string, hasLab: boolean) =>
  guides(baseUrl, hasLab)
    .map((guide) => `- [${guide.name}](${rootUrl}${guidePath(guide)}): ${firstSentence(guide.description)}`)
    .join('\n');

const firstSentence = (text: string) => /^.*?\.(?=\s)/s.exec(text)?.[0].replaceAll('\n', ' ');

const fullText = (
  baseUrl: string,
  rootUrl: string,
  description: JsonObject,
  labUrl: string | undefined,
) => `# Petstore API ${version}

> ${summary}

${essentials(baseUrl, labUrl)}
- The [guides](${rootUrl}/llms.txt) explain the rest.

${toMarkdown(description)}
`;

/** Crawlers read it only at the root of a host. Behind a path prefix the proxy must serve it there. */
const robots = (apis: string[]) => `User-agent: *
${apis.map((url) => robotsOf(new URL(url).pathname)).join('')}`;

const robotsOf = (api: string) => `Allow: ${api}/openapi.json
Allow: ${api}/openapi.yaml
Disallow: ${api}/
`;
