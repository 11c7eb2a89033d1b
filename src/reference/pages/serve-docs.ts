import type { FastifyInstance } from 'fastify';
import { accountsOperations } from '../../accounts/operations.ts';
import { memoize } from '../../foundation/promises.ts';
import { pathOfEach } from '../../http/document.ts';
import type { Operation } from '../../http/operation.ts';
import { hashedPath } from '../../http/pages/serve-page.ts';
import { accountsPrefix, labPrefix, labUrlOf, prefix } from '../../http/target.ts';
import { labOperations } from '../../lab/petstore/petstore-api.ts';
import { describeAccounts, describeLab, describeStore } from '../description/apis.ts';
import { errorPages, serveErrorPages } from './error-pages.ts';
import { referenceFiles, referencePaths, serveReference } from './interactive-page.ts';
import { type Api, listPaths, navigation, pagesOf, servePages } from './pages.ts';
import { serveTexts, textPaths } from './texts.ts';

interface Documented {
  baseUrl: string;
  hasLab: boolean;
  hasDraftLimits?: boolean;
  /** Those of the store. */
  operations: readonly Operation[];
}

/** The groups of pages without scripts: one page for each name. */
const pageGroups = ({ operations, hasLab }: Omit<Documented, 'baseUrl'>) => [
  ...pagesOf([...operations, ...accountsOperations, ...(hasLab ? labOperations : [])], hasLab),
  errorPages,
];

const singlePaths = [...listPaths, errorPages.path];

/** The paths of everything that `serveDocs` serves, as the router takes them. */
export const docsPaths = (documented: Omit<Documented, 'baseUrl'>) => [
  ...referencePaths,
  ...referenceFiles.map(hashedPath),
  ...singlePaths,
  ...pageGroups(documented).map(pathOfEach),
  ...textPaths(documented.hasLab),
];

/** The paths of all pages, for search engines. */
export const pagePaths = (documented: Omit<Documented, 'baseUrl'>) => [
  '/reference',
  ...singlePaths,
  ...pageGroups(documented).flatMap(({ path, names }) => names.map((name) => `${path}/${name}`)),
  '/changelog',
];

/** Serves the documentation of the API and the lab, without a key: the interactive page, static pages, and texts. */
export function serveDocs(app: FastifyInstance, documented: Documented): void {
  const { baseUrl, hasLab, operations } = documented;
  const description = memoize(() => describeStore(operations, baseUrl, documented));
  const store: Api = { name: '', start: prefix, operations, description };
  const lab: Api = {
    name: 'Lab: ',
    start: labPrefix,
    operations: labOperations,
    description: memoize(() => describeLab(baseUrl, documented)),
  };
  const accounts: Api = {
    name: '',
    start: accountsPrefix,
    operations: accountsOperations,
    description: memoize(() => describeAccounts(baseUrl, documented)),
  };
  const apis = hasLab ? [store, accounts, lab] : [store, accounts];
  const site = { rootUrl: baseUrl.replace(/\/v1$/, ''), hasLab, groups: navigation(apis, hasLab) };
  serveReference(app, apis, site);
  servePages(app, baseUrl, apis, site);
  serveErrorPages(app, baseUrl, apis, site);
  const labUrl = hasLab ? labUrlOf(baseUrl) : undefined;
  serveTexts(app, { baseUrl, labUrl, operations, description, site, pages: pagePaths(documented) });
}
