import type { FastifyInstance } from 'fastify';
import { firstSentence } from '../../foundation/words.ts';
import type { Operation } from '../../http/operation.ts';
import { type Guide, guideNames, guidePath, slugOf } from '../description/guide-names.ts';
import { guides } from '../description/guides.ts';
import { raiseHeadings } from '../description/markdown.ts';
import type { JsonObject } from '../description/schemas.ts';
import { operationPage, schemaList } from './operation-page.ts';
import {
  blocks,
  escapeHtml,
  inline,
  type NavigationGroup,
  type PageGroup,
  rootFrom,
  type Site,
  serveStaticPage,
  serveStaticPages,
} from './static-page.ts';

/** An API of which the reference has pages. */
export interface Api {
  /** Stands before the names of its groups of operations. */
  name: string;
  /** The start of its paths, below the root. */
  start: string;
  operations: readonly Operation[];
  description: () => Promise<JsonObject>;
}

const operationsPath = '/reference/operations';
const guidesPath = '/reference/guides';
const schemasPath = '/reference/schemas';

export const operationPath = ({ id }: Pick<Operation, 'id'>) => `${operationsPath}/${id}`;

export const guidePagePath = (name: string) => `${guidesPath}/${slugOf(name)}`;

/** The pages of guides, and those of operations. */
export const pagesOf = (operations: readonly Operation[], hasLab: boolean): PageGroup[] => [
  { path: guidesPath, names: guideNames(hasLab).map(slugOf) },
  { path: operationsPath, names: operations.map(({ id }) => id) },
];

/** The paths of lists. */
export const listPaths = [guidesPath, operationsPath, schemasPath];

const linkTo = (path: string, title: string) => ({ path: path.slice(1), title });

/** The pages in groups: guides, and the operations of each tag. */
export function navigation(apis: readonly Api[], hasLab: boolean): NavigationGroup[] {
  const tags = apis.flatMap(({ name, operations }) =>
    [...Map.groupBy(operations, ({ tag }) => tag)].map(([tag, ofTag]) => ({
      name: name + tag,
      links: ofTag.map((operation) => ({
        ...linkTo(operationPath(operation), operation.summary),
        isDeprecated: operation.deprecated !== undefined,
      })),
    })),
  );
  return [
    { name: 'Guides', links: guideNames(hasLab).map((name) => linkTo(guidePagePath(name), name)) },
    ...tags,
    {
      name: 'Lists',
      links: [
        linkTo(operationsPath, 'All operations'),
        linkTo(schemasPath, 'Schemas'),
        linkTo('/reference/errors', 'Error codes'),
      ],
    },
  ];
}

/** Serves a page for each guide and operation, lists of them, and one page for all schemas. */
export function servePages(app: FastifyInstance, baseUrl: string, apis: readonly Api[], site: Site): void {
  const { hasLab } = site;
  const all = apis.flatMap(({ operations }) => operations);
  const [guidePages, operationPages] = pagesOf(all, hasLab) as [PageGroup, PageGroup];
  serveStaticPage(app, site, guidesPath, () => ({
    title: 'Guides',
    summary: 'What all operations of the Petstore API have in common.',
    main: `<h1>Guides</h1>\n${guideList(baseUrl, hasLab, rootFrom(guidesPath))}`,
  }));
  serveStaticPages(app, site, guidePages, (slug) => {
    const { name, description } = guides(baseUrl, hasLab)[guidePages.names.indexOf(slug)] as Guide;
    return {
      title: name,
      summary: firstSentence(description)[0],
      main: `<article class="guide">\n<h1>${name}</h1>\n${blocks(raiseHeadings(description))}</article>`,
      markdown: guidePath({ name }),
    };
  });
  serveStaticPage(app, site, operationsPath, () => ({
    title: 'All operations',
    summary: 'Every operation of the Petstore API, with its method and path.',
    main: `<h1>All operations</h1>\n${operationTables(apis, rootFrom(operationsPath))}`,
  }));
  serveStaticPages(app, site, operationPages, async (id, path) => {
    const api = apis.find(({ operations }) => operations.some((operation) => operation.id === id)) as Api;
    const operation = api.operations.find((operation) => operation.id === id) as Operation;
    const { method, summary, description } = operation;
    const described = { document: await api.description(), path: `${api.start.slice(1)}/openapi.json` };
    return {
      title: summary,
      summary: `${method} ${api.start}${operation.path}: ${firstSentence(description)[0]}`,
      main: operationPage(described, id, path),
    };
  });
  serveStaticPage(app, site, schemasPath, async () => {
    const documents = await Promise.all(apis.map(({ description }) => description()));
    return {
      title: 'Schemas',
      summary: 'The objects in requests and responses of the Petstore API.',
      main: schemaList(documents, rootFrom(schemasPath)),
    };
  });
}

/** Every guide, with its first sentence. */
function guideList(baseUrl: string, hasLab: boolean, root: string): string {
  const items = guides(baseUrl, hasLab).map(
    ({ name, description }) =>
      `<li><a href="${root}${guidePagePath(name).slice(1)}">${name}</a>: ${inline(firstSentence(description)[0])}</li>`,
  );
  return `<ul>\n${items.join('\n')}\n</ul>`;
}

/** Every operation, in tables below the headings of their groups. */
export const operationTables = (apis: readonly Api[], root: string, level = 2) =>
  apis
    .flatMap(({ name, start, operations }) =>
      [...Map.groupBy(operations, ({ tag }) => tag)].map(
        ([tag, ofTag]) => `<h${level}>${name}${tag}</h${level}>
<table class="operations">
<tbody>
${ofTag.map((operation) => operationRow(operation, start, root)).join('\n')}
</tbody>
</table>`,
      ),
    )
    .join('\n');

const operationRow = (operation: Operation, start: string, root: string) => {
  const { method, path, summary, deprecated } = operation;
  const mark = deprecated ? ' <span class="mark">deprecated</span>' : '';
  return `<tr><td><a href="${root}${operationPath(operation).slice(1)}">${escapeHtml(summary)}</a>${mark}</td>
<td><code><b>${method}</b> ${start}${path}</code></td></tr>`;
};
