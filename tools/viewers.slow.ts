import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { chromium, type Page } from 'playwright-core';
import { operations } from '../src/api/operations.ts';
import { args, executablePath } from '../test/support/browsers.ts';
import { listen } from '../test/support/receiver.ts';
import { until } from '../test/support/until.ts';
import { packageFolder } from './support/bundle.ts';
import { startDemonstration } from './support/demonstration.ts';
import { pinnedTool, testTool } from './support/tool.ts';
import { openapiDocuments } from './support/tour.ts';

const timeoutMs = 30_000;

interface Viewer {
  repository: string;
  package: string;
  /** The body of a page that shows a description. */
  page(url: string, key: string): string;
  /** Whether its menu shows the operations of a tag only when that is open. */
  hasMenu?: boolean;
  /** Sends the request of the operation "List pets", if it can. */
  send?(page: Page, key: string): Promise<void>;
  exemptions?: readonly string[];
}

/** The tags that have operations. OpenAPI 3.2 gives them summaries. */
const tags = [/^Pets(?: and categories)?$/, /^(?:Store|Orders, stock and events)$/];

const listPets = (page: Page) => page.getByText('List pets', { exact: true }).first();
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

const viewers: Record<string, Viewer> = {
  Redoc: {
    repository: 'Redocly/redoc',
    package: 'redoc',
    page: (url) =>
      `<redoc spec-url="${url}"></redoc><script type="module" src="bundles/redoc.standalone.js"></script>`,
    hasMenu: true,
    exemptions: [
      'It cannot send requests. It asks for its logo and reports its use on the web, which the test refuses.',
    ],
  },
  RapiDoc: {
    repository: 'rapi-doc/RapiDoc',
    package: 'rapidoc',
    page: (url, key) =>
      `<rapi-doc spec-url="${url}" render-style="view" load-fonts="false" api-key-name="Authorization"
        api-key-location="header" api-key-value="Bearer ${key}"></rapi-doc>
      <script type="module" src="dist/rapidoc-min.js"></script>`,
    async send(page) {
      await listPets(page).click();
      await press(page, 'TRY');
    },
  },
  'Stoplight Elements': {
    repository: 'stoplightio/elements',
    package: '@stoplight/elements',
    page: (url) =>
      `<link rel="stylesheet" href="styles.min.css"><script src="web-components.min.js"></script>
      <elements-api apiDescriptionUrl="${url}" router="hash" layout="sidebar"></elements-api>`,
    hasMenu: true,
    async send(page, key) {
      await listPets(page).click();
      await page.getByLabel('Token').first().fill(key);
      await press(page, 'Send API Request');
    },
  },
  'Swagger UI': {
    repository: 'swagger-api/swagger-ui',
    package: 'swagger-ui-dist',
    page: (url, key) =>
      `<link rel="stylesheet" href="swagger-ui.css"><script src="swagger-ui-bundle.js"></script><div id="viewer"></div>
      <script>
        const ui = SwaggerUIBundle({ url: '${url}', dom_id: '#viewer', validatorUrl: null,
          onComplete: () => ui.preauthorizeApiKey('bearerAuth', '${key}') });
      </script>`,
    async send(page) {
      await listPets(page).click();
      await press(page, 'Try it out');
      await press(page, 'Execute');
    },
  },
  Scalar: {
    repository: 'scalar/scalar',
    package: '@scalar/api-reference',
    page: (url, key) =>
      `<div id="viewer"></div><script src="dist/browser/standalone.js"></script>
      <script>
        Scalar.createApiReference('#viewer', { url: '${url}', telemetry: false, withDefaultFonts: false,
          defaultOpenAllTags: true, authentication: { preferredSecurityScheme: 'bearerAuth',
          securitySchemes: { bearerAuth: { token: '${key}' } } } });
      </script>`,
    async send(page) {
      await listPets(page).click();
      await press(page, /Test Request/);
      await press(page, /^Send/);
    },
  },
};

const mediaTypes: Record<string, string> = { '.css': 'text/css', '.js': 'text/javascript' };

/** Serves a page and the files of a folder. Returns its address. */
async function serve(t: TestContext, folder: string, body: string): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const isPage = url === '/';
    response.setHeader(
      'content-type',
      isPage ? 'text/html; charset=utf-8' : (mediaTypes[extname(url)] ?? ''),
    );
    response.end(
      isPage
        ? `<!doctype html><link rel="icon" href="data:,"><body>${body}</body>`
        : readFileSync(join(folder, url)),
    );
  });
  return `http://127.0.0.1:${(await listen(t, server)).port}/`;
}

for (const [name, viewer] of Object.entries(viewers)) {
  const tool = pinnedTool(name, viewer.repository, 'Shows documents', viewer.package);
  const sends = viewer.send ? ' Its panel sends a request to list pets.' : '';
  testTool(
    tool,
    {
      called: 'its bundle in Chromium, with OpenAPI 3.0, 3.1 and 3.2',
      asserts: `It shows every operation, without an error in the console.${sends}`,
      runs: viewer.send !== undefined,
      ...(viewer.exemptions && { exemptions: viewer.exemptions }),
    },
    async (t) => {
      const { origin, freshKey } = await startDemonstration(t);
      const key = await freshKey();
      const folder = packageFolder(viewer.package, tool.version);
      const browser = await chromium.launch({ executablePath, args });
      t.after(() => browser.close());
      for (const document of openapiDocuments) {
        const page = await browser.newPage({ viewport: { width: 1600, height: 1200 } });
        page.setDefaultTimeout(timeoutMs);
        const errors: string[] = [];
        page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
        page.on('pageerror', ({ message }) => errors.push(message));
        // Nothing leaves this machine. An empty response makes no error.
        await page.route(
          ({ protocol, hostname }) =>
            protocol === 'https:' || !/^(?:127\.0\.0\.1|localhost|)$/.test(hostname),
          (route) => route.fulfill({ body: '' }),
        );
        await page.goto(await serve(t, folder, viewer.page(`${origin}/v1/${document}`, key)));
        const missing = new Set(operations.map(({ summary }) => summary));
        const look = async () => {
          for (const summary of missing)
            if (await page.getByText(summary, { exact: true }).count()) missing.delete(summary);
        };
        for (const tag of viewer.hasMenu ? tags : []) {
          await page.getByText(tag).first().click();
          await until(async () => {
            const before = missing.size;
            await look();
            return missing.size < before;
          });
        }
        await until(async () => {
          await look();
          return missing.size === 0;
        });
        if (viewer.send) {
          const [response] = await Promise.all([
            page.waitForResponse((response) => new URL(response.url()).pathname === '/v1/pets'),
            viewer.send(page, key),
          ]);
          assert.equal(response.status(), 200, document);
        }
        assert.deepEqual(errors, [], document);
        await page.close();
      }
    },
  );
}
