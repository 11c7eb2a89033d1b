import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { toolsFor } from '../src/mcp/tools.ts';
import { temporaryFolder } from '../test/support/folder.ts';
import { type Petstore, startPetstore } from '../test/support/petstore.ts';
import { pinnedTool, testTool } from './support/tool.ts';

const programAt = (path: string) =>
  fileURLToPath(new URL(`node_modules/@modelcontextprotocol/${path}`, import.meta.url));
const conformance = programAt('conformance/dist/index.js');
const inspector = programAt('inspector/clients/launcher/build/index.js');

const run = promisify(execFile);

/** Runs a program of Node.js, with a home of its own. Resolves to its exit code and its standard output. */
const node = (home: string, ...words: string[]) =>
  run(process.execPath, words, { env: { HOME: home }, maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );

/** The address of a proxy that adds the key: the conformance suite cannot send one. */
async function withKey(t: TestContext, store: Petstore): Promise<string> {
  const origin = await store.listen();
  const proxy = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${store.key}` };
    const passedOn = request(
      new URL('/mcp', origin),
      { method: asked.method as string, headers },
      (given) => {
        answer.writeHead(given.statusCode as number, given.headers);
        given.pipe(answer);
      },
    );
    asked.pipe(passedOn);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
}

/**
 * The checks that cannot apply, by the reason. The suite is written for a server that has the tools, resources and prompts of its own,
 * next to what the protocol asks of every server.
 */
const cannotApply: Record<string, readonly string[]> = {
  'calls a tool of the suite': [
    'tools-call-audio',
    'tools-call-elicitation',
    'tools-call-embedded-resource',
    'tools-call-error',
    'tools-call-image',
    'tools-call-mixed-content',
    'tools-call-sampling',
    'tools-call-simple-text',
    'tools-call-with-logging',
    'tools-call-with-progress',
    'json-schema-2020-12-tool-found',
    'elicitation-sep1034-general',
    'elicitation-sep1330-general',
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-server-no-log-without-loglevel',
  ],
  'needs a tool that asks its caller for more (input required)': [
    'sep-2322-elicitation-incomplete',
    'sep-2322-list-roots-incomplete',
    'sep-2322-sampling-incomplete',
    'sep-2322-respect-client-capabilities',
    'sep-2322-multi-round-r1',
    'sep-2322-multiple-inputs-incomplete',
    'sep-2322-non-tool-incomplete',
    'sep-2322-request-state-incomplete',
    'sep-2322-result-type-included',
    'sep-2322-reject-tampered-state',
  ],
  'needs a tool whose arguments are header fields': [
    'sep-2243-server-no-xmcp-tool',
    'sep-2243-server-decode-base64',
    'sep-2243-server-validate-param-match',
    'sep-2243-server-reject-invalid-param-chars',
    'sep-2243-server-reject-param-mismatch',
  ],
  'reads a resource of the suite': [
    'resources-read-binary',
    'resources-read-text',
    'resources-templates-read',
  ],
  'there are no prompts': [
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
    'sep-2549-prompts-list-caching-hints',
  ],
  'nothing is completed, logged or subscribed to': [
    'completion-complete',
    'logging-set-level',
    'resources-subscribe',
    'resources-unsubscribe',
  ],
};

const conformanceSuite = pinnedTool(
  'MCP conformance suite',
  'modelcontextprotocol/conformance',
  'Sends requests',
  '@modelcontextprotocol/conformance',
);

for (const [revision, words, least] of [
  ['2026-07-28', ['--requirements', '2026-07-28'], 60],
  ['2025-11-25', ['--spec-version', '2025-11-25', '--suite', 'all'], 30],
] as const)
  testTool(
    conformanceSuite,
    {
      called: `\`server ${words.join(' ')}\` on \`/mcp\``,
      asserts: `${revision}: nothing fails but what cannot apply.`,
      runs: true,
      exemptions: [`Checks that cannot apply: ${Object.keys(cannotApply).join('; ')}.`],
    },
    async (t) => {
      const url = await withKey(t, await startPetstore(t));
      const folder = temporaryFolder(t);
      await node(folder, conformance, 'server', '--url', url, ...words, '--output-dir', folder);
      const checks = globSync('*/checks.json', { cwd: folder })
        // Tasks are an extension, which this server does not offer.
        .filter((path) => !path.startsWith('server-tasks-'))
        .flatMap((path): Check[] => JSON.parse(readFileSync(join(folder, path), 'utf8')));
      const failed = checks.filter(({ status }) => status === 'FAILURE');
      const known = Object.values(cannotApply).flat();
      assert.deepEqual(
        failed.filter(({ id }) => !known.includes(id)),
        [],
      );
      const passed = checks.filter(({ status }) => status === 'SUCCESS');
      assert.ok(passed.length >= least, `${passed.length} checks passed`);
      // What passes everywhere does not belong into the table.
      for (const { id } of passed)
        assert.ok(!known.includes(id) || failed.some((check) => check.id === id), id);
      return `${passed.length} checks`;
    },
  );

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

testTool(
  pinnedTool(
    'MCP Inspector',
    'modelcontextprotocol/inspector',
    'Sends requests',
    '@modelcontextprotocol/inspector',
  ),
  {
    called: '`--cli` with `tools/list --strict` and `tools/call`',
    asserts: 'It finds no fault with the tools, lists all, and calls one.',
    runs: true,
  },
  async (t) => {
    const store = await startPetstore(t);
    const url = `${await store.listen()}/mcp`;
    const home = temporaryFolder(t);
    const inspect = (...words: string[]) =>
      node(home, inspector, '--cli', url, '--header', `Authorization: Bearer ${store.key}`, ...words);
    const listed = await inspect('--method', 'tools/list', '--strict');
    assert.equal(listed.code, 0, listed.stdout);
    assert.deepEqual(
      JSON.parse(listed.stdout).tools.map(({ name }: { name: string }) => name),
      toolsFor(true).map(({ name }) => name),
    );
    const called = await inspect(
      '--method',
      'tools/call',
      '--tool-name',
      'get_stock',
      '--tool-arg',
      'petId=1',
    );
    assert.deepEqual(JSON.parse(called.stdout).structuredContent, {
      petId: 1,
      quantity: 4,
      status: 'available',
    });
  },
);
