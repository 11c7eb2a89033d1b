import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { TestContext } from 'node:test';
import { chromium } from 'playwright-core';
import { createPetstore } from '../../src/client/index.ts';
import { args, executablePath, browserTest as test } from '../support/browsers.ts';
import { takeTour } from '../support/client-tour.ts';
import { startPetstore } from '../support/petstore.ts';
import { listen } from '../support/receiver.ts';
import { textOf } from '../support/tree.ts';

/** Serves the modules of the client and of its tour as JavaScript. Returns the port. */
async function serveModules(t: TestContext): Promise<number> {
  const server = createServer(({ url = '' }, response) => {
    const isModule = /^\/(?:src\/client|test\/support)\/[\w-]+\.ts$/.test(url);
    response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html');
    response.end(isModule ? stripTypeScriptTypes(textOf(url)) : '');
  });
  return (await listen(t, server)).port;
}

test('the client works on a page without TLS as in Node.js, also under faults', async (t) => {
  const store = await startPetstore(t);
  Object.defineProperty(store, 'nowMs', { get: () => Date.now() });
  const baseUrl = `${await store.listen()}/v1`;
  const usual = await takeTour(
    createPetstore({ baseUrl, apiKey: (await store.addWorkspace('usual', true)).key }),
  );
  const browser = await chromium.launch({
    executablePath,
    args: [...args, '--host-resolver-rules=MAP shop.test 127.0.0.1'],
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`http://shop.test:${await serveModules(t)}/`);
  assert.equal(await page.evaluate('isSecureContext'), false);
  const takeItThere = (key: string, rehearsal: string): Promise<{ printed: string[]; performed: number }> =>
    page.evaluate(`(async () => {
      const { createLab, createPetstore } = await import('/src/client/index.ts');
      const { takeTour } = await import('/test/support/client-tour.ts');
      const options = { baseUrl: '${baseUrl}', apiKey: '${key}' };
      const lab = createLab(options);
      const { id } = await lab.startRehearsal(${rehearsal});
      const printed = await takeTour(createPetstore(options));
      return { printed, performed: (await lab.endRehearsal(id)).faults[0].performed };
    })()`);
  for (const fault of ['rate-limited', 'lost-answer', 'truncated', 'reset', 'large-ids', 'empty-page']) {
    const { key } = await store.addWorkspace(fault, true);
    const isLimited = fault === 'rate-limited';
    const faults = [{ fault, ...(isLimited && { operation: 'createPet' }) }];
    const { printed, performed } = await takeItThere(key, JSON.stringify({ faults }));
    assert.deepEqual(printed, usual, fault);
    assert.ok(performed > 0, fault);
  }
});
