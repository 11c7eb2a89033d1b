import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { command } from '#distribution';
import { type Guide, guidePath, guidePaths, guides } from '../../description/guides.ts';
import { errorList, inCode, toMarkdown } from '../../description/markdown.ts';
import { exampleOf, type JsonObject } from '../../description/schemas.ts';
import { events } from '../../events/schema.ts';
import { grouped } from '../../foundation/bounds.ts';
import { referenceUrl } from '../../foundation/reference-url.ts';
import { version } from '../../foundation/version.ts';
import { formsFromThread, formsOf } from '../../http/content-codings.ts';
import { serveDocument } from '../../http/document.ts';
import type { Operation } from '../../http/operation.ts';
import { plans } from '../../limits/plans.ts';
import { successorOf } from '../../observe/deprecation.ts';

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
  operations: readonly Operation[];
  description: () => JsonObject;
}

/** Serves llms.txt, the guides, the changelog and robots.txt: for assistants, crawlers, and readers of plain text. */
export function serveTexts(app: FastifyInstance, { baseUrl, labUrl, operations, description }: Parts): void {
  const rootUrl = baseUrl.replace(/\/v1$/, '');
  const serve = (path: string, mediaType: string, text: () => string | Promise<string>) =>
    serveDocument(app, { path, mediaType, forms: async () => formsOf(await text()) });

  const hasLab = labUrl !== undefined;
  for (const [i, path] of guidePaths(hasLab).entries()) {
    serve(path, markdown, () => guideText(guides(baseUrl, hasLab)[i] as Guide, rootUrl));
  }
  serve('/llms.txt', plain, () => overview({ baseUrl, rootUrl, labUrl }, operations));
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
- A refused request is answered with \`{"code", "message", "status"}\`. After 429, 403 \`key_banned\` and 503 wait for the seconds of \`Retry-After\`.${labUrl ? `\n- [The lab](${labUrl}/openapi.json) performs limits, bans, failures and broken connections for a key that asks, so that a client can be tested.` : ''}`;

interface Urls extends Pick<Parts, 'baseUrl' | 'labUrl'> {
  rootUrl: string;
}

/** All that a client of the API needs to know to begin, in the form of llmstxt.org. */
const overview = ({ baseUrl, rootUrl, labUrl }: Urls, operations: readonly Operation[]) => `# Petstore API

> ${summary}

${essentials(baseUrl, labUrl)}

## Operations

Paths are below the base URL. Bodies are JSON; each is shown by an example.

${operations.map((operation) => operationLine(operation, operations)).join('\n')}

## Limits

- Requests per minute and per day: ${quotas()}.
- \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (Unix seconds) of every answer describe the window with
  the fewest requests left. A client that goes on after many 429 is banned: 403 \`key_banned\`.

## Errors

${errorList()}

## Events

Each change is an event: \`{"id", "type", "timestamp", "requestId", "data"}\`, and \`previous\` after an update. Ids are 1, 2, 3 and so
on: keep the last one, and ask for what came after it. The list, the stream and webhooks carry the same events, of these types:

${events.map(({ type, meaning }) => `- \`${type}\`: ${firstSentence(meaning)}`).join('\n')}

## Guides

${guideList(baseUrl, rootUrl, labUrl !== undefined)}

## Reference

- [All operations and schemas](${rootUrl}/llms-full.txt): one text, without samples
- [OpenAPI description](${baseUrl}/openapi.json): complete, with samples and guides; also as [YAML](${baseUrl}/openapi.yaml), and in
  [OpenAPI 3.1](${baseUrl}/openapi-3.1.json) and [3.2](${baseUrl}/openapi-3.2.json)
- [AsyncAPI description](${baseUrl}/asyncapi.json): the stream of events, and webhooks; also as [YAML](${baseUrl}/asyncapi.yaml)
- [Arazzo workflows](${baseUrl}/arazzo.yaml): what a good client does, step by step
- [Interactive reference](${referenceUrl(baseUrl)}): for browsers

## Optional

- [Changelog](${rootUrl}/changelog.md): what changed in Petstore
`;

/** What an operation does, what may be asked for, and the body of its example. */
function operationLine(operation: Operation, operations: readonly Operation[]): string {
  const { method, path, description, query, body, deprecated } = operation;
  const successor = deprecated && successorOf(operation, operations);
  return [
    `- \`${method} ${path}\`: ${firstSentence(description)}`,
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

const guideList = (baseUrl: string, rootUrl: string, hasLab: boolean) =>
  guides(baseUrl, hasLab)
    .map((guide) => `- [${guide.name}](${rootUrl}${guidePath(guide)}): ${firstSentence(guide.description)}`)
    .join('\n');

const firstSentence = (text: string) => /^.*?\.(?=\s|$)/s.exec(text)?.[0].replaceAll('\n', ' ');

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

/** A rule holds for every path that begins with its own: the descriptions in all versions and forms. */
const robotsOf = (api: string) => `Allow: ${api}/openapi
Allow: ${api}/asyncapi
Allow: ${api}/arazzo
Disallow: ${api}/
`;
