import type { FastifyInstance } from 'fastify';
import { howToGetOne } from '../../access/keys/key-pattern.ts';
import { bundles, filesAt, servePage } from '../../http/pages/serve-page.ts';
import type { JsonObject } from '../description/schemas.ts';
import { type Api, operationTables } from './pages.ts';
import { type Additions, blocks, layout, type Site } from './static-page.ts';

/** The entries of the program and the style sheets, by the paths at which they are served. */
export const referencePrograms = {
  '/reference/page.js': 'reference/pages/page/page.ts',
  '/reference/page.css': 'reference/pages/page/page.css',
  '/reference/interactive.css': 'reference/pages/page/interactive.css',
};

/** The files of the interactive page and of those without a script, by path. */
const files = {
  ...bundles(referencePrograms),
  ...filesAt({ '/reference/icon.svg': new URL('page/icon.svg', import.meta.url) }),
};

export const referenceFiles = Object.keys(files);

/** The paths of the reference and its files. */
export const referencePaths = ['/', '/reference', '/reference/', ...referenceFiles];

/**
 * Serves the interactive reference, which shows the static pages one at a time. It loads only its own files and asks only its own
 * origin. It contains no key: each tab has its own.
 */
export function serveReference(app: FastifyInstance, apis: readonly Api[], site: Site): void {
  app.get('/', async (_request, reply) => reply.redirect('reference'));
  app.get('/reference/', async (_request, reply) => reply.redirect('../reference'));
  servePage(app, {
    path: '/reference',
    html: async () => layout(await startPage(apis), site, additions),
    policy: ["style-src 'self'", "img-src 'self'", "connect-src 'self'"],
    files,
  });
}

/** The markup that only the interactive reference has. */
const additions: Additions = {
  head: `<link rel="stylesheet" href="reference/interactive.css">
<link rel="alternate" href="llms.txt" type="text/plain" title="An overview for programs">
<script src="reference/page.js" type="module"></script>
`,
  header: `<button id="search-open" type="button" aria-keyshortcuts="Control+K Meta+K">Search <kbd>Ctrl K</kbd></button>
<div id="key">
<form>
<label for="key-input">API key</label>
<input id="key-input" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="key-note">
<button type="submit">Use key</button>
</form>
<div id="key-in-use" hidden>
<span>API key <code></code></span>
<button type="button">Forget key</button>
</div>
<p id="key-note" role="status">${howToGetOne}</p>
</div>
`,
  body: `<dialog id="search" aria-label="Search the reference" closedby="any">
<input type="search" role="combobox" aria-label="Search" aria-controls="search-results" aria-expanded="false" aria-autocomplete="list" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="Search, such as “429” or “createPet”">
<div id="search-results" role="listbox" aria-label="Results" hidden></div>
<p role="status"></p>
</dialog>
`,
};

/** What the API is, and all its operations. */
async function startPage(apis: readonly Api[]) {
  const [{ description }] = apis as [Api];
  const { info } = (await description()) as { info: JsonObject };
  return {
    path: '/reference',
    title: 'API reference',
    summary: 'The Petstore API: every operation, with samples and a way to try it.',
    main: `<h1>Petstore API</h1>\n${blocks(info.description as string)}\n${operationTables(apis, '')}`,
  };
}
