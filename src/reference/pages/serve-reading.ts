import type { FastifyInstance } from 'fastify';
import { memoize } from '../../foundation/promises.ts';
import { pathOfEach } from '../../http/document.ts';
import type { Operation } from '../../http/operation.ts';
import { hashedPath } from '../../http/pages/serve-page.ts';
import { labPrefix, labUrlOf, prefix } from '../../http/target.ts';
import { labOperations } from '../../lab/petstore/petstore-api.ts';
import { errorPages, serveErrorPages } from './error-pages.ts';
import { type Api, listPaths, navigation, pagesOf, servePages } from './pages.ts';
import { serveTexts, textPaths } from './plain-texts.ts';
import { referenceFiles, referencePaths, serveReference } from './serve-reference.ts';

interface Parts {
  baseUrl: string;
  hasLab: boolean;
  hasDraftLimits?: boolean;
  /** Those of the store. */
  operations: readonly Operation[];
}

/** The groups of pages without scripts: one page for each name. */
const pageGroups = ({ operations, hasLab }: Omit<Parts, 'baseUrl'>) => [
  ...pagesOf([...operations, ...(hasLab ? labOperations : [])], hasLab),
  errorPages,
];

const singlePaths = [...listPaths, errorPages.path];

/** The paths of everything that `serveReading` serves, as the router takes them. */
export const readingPaths = (parts: Omit<Parts, 'baseUrl'>) => [
  ...referencePaths,
  ...referenceFiles.map(hashedPath),
  ...singlePaths,
  ...pageGroups(parts).map(pathOfEach),
  ...textPaths(parts.hasLab),
];

/** The paths of all pages, for search engines. */
export const pagePaths = (parts: Omit<Parts, 'baseUrl'>) => [
  '/reference',
  ...singlePaths,
  ...pageGroups(parts).flatMap(({ path, names }) => names.map((name) => `${path}/${name}`)),
  '/changelog',
];

/** Serves the documentation of the API and the lab, without a key: the reference, its plain pages, and texts. */
export function serveReading(app: FastifyInstance, parts: Parts): void {
  const { baseUrl, hasLab, operations } = parts;
  const description = memoize(async () =>
    (await import('../description/apis.ts')).describeStore(operations, baseUrl, parts),
  );
  const apis: Api[] = [
    { name: '', start: prefix, operations, description },
    ...(hasLab
      ? [
          {
            name: 'Lab: ',
            start: labPrefix,
            operations: labOperations,
            description: memoize(async () =>
              (await import('../description/apis.ts')).describeLab(baseUrl, parts),
            ),
          },
        ]
      : []),
  ];
  const site = { rootUrl: baseUrl.replace(/\/v1$/, ''), hasLab, groups: navigation(apis, hasLab) };
  serveReference(app, apis, site);
  servePages(app, baseUrl, apis, site);
  serveErrorPages(app, baseUrl, apis, site);
  const labUrl = hasLab ? labUrlOf(baseUrl) : undefined;
  serveTexts(app, { baseUrl, labUrl, operations, description, site, pages: pagePaths(parts) });
}
