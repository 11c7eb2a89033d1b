import type { FastifyInstance } from 'fastify';
import { type ErrorCode, errorCodes, errorTitle, problemDetailsOf } from '../../foundation/errors.ts';
import { reasonPhrase } from '../../http/server-response.ts';
import { errorPagesUrl } from '../../http/target.ts';
import { guides } from '../description/guides.ts';
import { exampleError } from '../description/responses.ts';
import { type Api, guidePagePath, operationTables } from './pages.ts';
import { escapeHtml, inline, rootFrom, type Site, serveStaticPage, serveStaticPages } from './static-page.ts';

const codes = Object.keys(errorCodes) as ErrorCode[];

/** The pages about error codes. */
export const errorPages = { path: '/reference/errors', names: codes };

/** Serves a page for each error code, and a list of them. */
export function serveErrorPages(app: FastifyInstance, baseUrl: string, apis: readonly Api[], site: Site) {
  serveStaticPage(app, site, errorPages.path, () => ({
    title: 'Error codes',
    summary: 'Every error code of the Petstore API, by its status.',
    main: listOfCodes(),
  }));
  serveStaticPages(app, site, errorPages, (name, path) => {
    const code = name as ErrorCode;
    const main = pageOf(code, baseUrl, apis, rootFrom(path));
    return { title: errorTitle(code), summary: errorCodes[code][1], main };
  });
}

function listOfCodes(): string {
  const sections = [...Map.groupBy(codes, (code) => errorCodes[code][0])].map(
    ([status, same]) => `<h2>${status} ${reasonPhrase(status)}</h2>
<ul>
${same.map((code) => `<li><a href="errors/${code}"><code>${code}</code></a>: ${inline(errorCodes[code][1])}</li>`).join('\n')}
</ul>`,
  );
  return `<h1>Error codes</h1>
<p>By status. ${guideLink(rootFrom(errorPages.path))}</p>
${sections.join('\n')}`;
}

const guideLink = (root: string) =>
  `<a href="${root}${guidePagePath('Errors').slice(1)}">The guide on errors</a> says which errors to retry.`;

function pageOf(code: ErrorCode, baseUrl: string, apis: readonly Api[], root: string): string {
  const { cause, cure } = adviceOn(code, baseUrl);
  const error = exampleError(code);
  return `<h1>${errorTitle(code)}</h1>
<p><code>${code}</code> · ${error.status} ${reasonPhrase(error.status)}</p>
<h2>Cause</h2>
<p>${inline(cause)}</p>
<h2>What to do</h2>
<p>${inline(cure.replace(/the guide "([A-Za-z ]+)"/, (text, name) => `[${text}](${root}${guidePagePath(name).slice(1)})`))}</p>
<p>${guideLink(root)}</p>
<h2>Example</h2>
${example(error.body)}
<p>With <code>Accept: application/problem+json</code>:</p>
${example(problemDetailsOf(error, errorPagesUrl(baseUrl)))}
<h2>Operations that return it</h2>
${operationsWith(code, apis, root)}`;
}

/** What the guide on errors says about a code. */
function adviceOn(code: ErrorCode, baseUrl: string): { cause: string; cure: string } {
  const { description = '' } = guides(baseUrl).find(({ name }) => name === 'Errors') ?? {};
  const [, cause, cure] =
    new RegExp(`^\\| \`${code}\` \\| \\d+ \\| (.+) \\| (.+) \\|$`, 'm').exec(description) ?? [];
  if (cause === undefined || cure === undefined)
    throw new Error(`The guide on errors does not name ${code}.`);
  return { cause, cure };
}

function operationsWith(code: ErrorCode, apis: readonly Api[], root: string): string {
  const found = apis.map((api) => ({
    ...api,
    operations: api.operations.filter(({ errors }) => errors.includes(code)),
  }));
  const isEvery = found.every(({ operations }, i) => operations.length === apis[i]?.operations.length);
  return isEvery ? '<p>All of them.</p>' : operationTables(found, root, 3);
}

const example = (body: object) => `<pre><code>${escapeHtml(JSON.stringify(body, null, 2))}</code></pre>`;
