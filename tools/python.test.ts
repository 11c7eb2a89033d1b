import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { operations } from '../src/api/operations.ts';
import { sampleRequest } from '../src/reference/description/samples.ts';
import { temporaryFolder } from '../test/support/folder.ts';
import { startDemonstration } from './support/demonstration.ts';
import { endingOperations, sendExamples } from './support/examples.ts';
import { isOpenapi, toolsPath, writeDocuments } from './support/program.ts';
import { python, runPython } from './support/python.ts';
import { pinnedTool, testTool } from './support/tool.ts';
import { openapiDocuments, tour, tourAsserts } from './support/tour.ts';

/** A service whose history has events of most types. */
async function startUsed(t: TestContext) {
  const { origin, description, freshKey } = await startDemonstration(t);
  const key = await freshKey();
  await sendExamples(origin, key);
  const headers = { authorization: `Bearer ${key}` };
  // biome-ignore lint/suspicious/noExplicitAny: tools are compared with what the service sends
  const read = async (path: string): Promise<any> => (await fetch(`${origin}/v1${path}`, { headers })).json();
  return { origin, description, headers, key, read };
}

interface StoredEvent {
  id: number;
  type: string;
}

const withoutData =
  'With a filter of types it yields an event without data for each block that has only an id. HTML says that this is no event.';

for (const [name, repository, called, program, exemptions] of [
  ['httpx-sse', 'florimondmanca/httpx-sse', '`connect_sse`', 'httpx_events', [withoutData]],
  ['sseclient-py', 'mpetazzoni/sseclient', '`SSEClient` with `requests`', 'requests_events', []],
] as const)
  testTool(
    pinnedTool(name, repository, 'Receives', name),
    {
      called: `${called} on the stream of events`,
      asserts: 'It reads every stored event, with its id and its type.',
      runs: true,
      exemptions,
    },
    async (t) => {
      const { origin, headers, read } = await startUsed(t);
      const events: StoredEvent[] = await read('/store/events?limit=100');
      const url = `${origin}/v1/store/events/stream?after=0`;
      assert.deepEqual(
        runPython(program, { url, headers, count: events.length }),
        events.map((event) => ({ id: String(event.id), type: event.type, data: event })),
      );
      return `${events.length} events`;
    },
  );

testTool(
  pinnedTool('llms-txt', 'AnswerDotAI/llms-txt', 'Checks documents', 'llms-txt'),
  {
    called: '`parse_llms_file` and `create_ctx` on llms.txt',
    asserts: 'It finds the title, the summary and the links, and fetches every linked page.',
    runs: true,
  },
  async (t) => {
    const { origin } = await startDemonstration(t);
    const { title, summary, links, context } = runPython('llms', { origin });
    assert.equal(title, 'Petstore API');
    assert.ok(summary);
    for (const link of links) {
      assert.ok(link.title && link.desc, link.url);
      const page = await fetch(link.url);
      assert.equal(page.status, 200, link.url);
      assert.ok(context.includes((await page.text()).split('\n')[0]), link.url);
    }
    assert.ok(links.length >= 10);
    return `${links.length} links`;
  },
);

testTool(
  pinnedTool('arazzo-runner', 'jentic/arazzo-engine', 'Sends requests', 'arazzo-runner'),
  {
    called: '`execute_workflow` on the Arazzo document',
    asserts: 'The workflow `firstOrder` orders a pet and fulfils the order.',
    runs: true,
    exemptions: ['It does not resolve headers of responses, which the other workflows need.'],
  },
  async (t) => {
    const { origin, description, freshKey } = await startDemonstration(t);
    const document = join(dirname(description), 'arazzo.yaml');
    writeFileSync(document, await (await fetch(`${origin}/v1/arazzo.yaml`)).text());
    const steps = runPython('workflow', { document, workflow: 'firstOrder', key: await freshKey() });
    assert.deepEqual(
      steps,
      ['find', 'order', 'fulfil', 'read'].map((step) => [step, true]),
    );
  },
);

testTool(
  pinnedTool('openapi-core', 'python-openapi/openapi-core', 'Checks documents', 'openapi-core'),
  {
    called: '`validate_request` and `validate_response` on real exchanges, with OpenAPI 3.0, 3.1 and 3.2',
    asserts: 'The example request of every operation and its response are valid.',
    runs: true,
    exemptions: [
      'It needs a setting to read JSON Merge Patch.',
      'The stream of events is left out, because it has no end.',
    ],
  },
  async (t) => {
    const { origin, freshKey } = await startDemonstration(t);
    for (const document of openapiDocuments) {
      // biome-ignore lint/suspicious/noExplicitAny: a document of OpenAPI
      const description: any = await (await fetch(`${origin}/v1/${document}`)).json();
      const authorization = `Bearer ${await freshKey()}`;
      const requests = endingOperations.map((operation) => {
        const { method, url, body, mediaType } = sampleRequest(operation, description.servers[0].url);
        const headers = { authorization, ...(body && { 'content-type': mediaType }) };
        return { method, url, headers, ...(body && { data: JSON.stringify(body) }) };
      });
      assert.deepEqual(
        runPython('validate_exchanges', { description, requests }),
        endingOperations.map(({ success }) => success.status),
      );
    }
    return `${endingOperations.length} exchanges with each version`;
  },
);

const documents = [...writeDocuments(toolsPath('node_modules/.cache/documents'), isOpenapi).values()];

for (const [name, repository, called, reader] of [
  [
    'openapi-spec-validator',
    'python-openapi/openapi-spec-validator',
    '`validate` on all OpenAPI documents',
    'by_validator',
  ],
  ['prance', 'RonnyPfannschmidt/prance', '`ResolvingParser` on all OpenAPI documents', 'by_prance'],
  ['openapi3-parser', 'manchenkoff/openapi3-parser', '`parse` on all OpenAPI documents', 'by_parser'],
] as const)
  testTool(
    pinnedTool(name, repository, 'Checks documents', name),
    {
      called,
      asserts: 'Every document is valid, and has all its paths. It refuses one without `info`.',
      runs: false,
    },
    (t) => {
      const wrong = join(temporaryFolder(t), 'wrong.json');
      const described = documents.map((path) => JSON.parse(readFileSync(path, 'utf8')));
      const { info: _, ...rest } = described[0];
      writeFileSync(wrong, JSON.stringify(rest));
      const found = runPython('read_documents', { reader, paths: [...documents, wrong] });
      assert.match(found.pop(), /Error/);
      assert.deepEqual(
        found,
        described.map(({ paths }) => Object.keys(paths).length),
      );
      return `${documents.length} documents`;
    },
  );

const modelled: Record<string, string> = {
  '/pets': 'Pets',
  '/categories': 'Categories',
  '/inventory': 'InventoryItems',
  '/store/orders': 'Orders',
  '/store/events?limit=100': 'Events',
  '/pets/1': 'Pet',
  '/pets/9999': 'Error',
};

testTool(
  pinnedTool(
    'datamodel-code-generator',
    'koxudaxi/datamodel-code-generator',
    'Generates code',
    'datamodel-code-generator',
  ),
  {
    called: '`datamodel-codegen` on OpenAPI 3.0, 3.1 and 3.2',
    asserts: 'The models of Pydantic read and write responses of the service as they are.',
    runs: true,
  },
  async (t) => {
    const { origin, headers, read } = await startUsed(t);
    const baseUrl = `${origin}/v1`;
    for (const document of openapiDocuments) {
      const folder = temporaryFolder(t);
      const input = join(folder, document);
      writeFileSync(input, await (await fetch(`${baseUrl}/${document}`)).text());
      python([
        ...['-m', 'datamodel_code_generator', '--input', input, '--input-file-type', 'openapi'],
        ...['--output', join(folder, 'models.py'), '--output-model-type', 'pydantic_v2.BaseModel'],
        ...['--target-python-version', '3.11'],
      ]);
      const found = runPython('models', { folder, baseUrl, headers, models: modelled });
      for (const path of Object.keys(modelled)) {
        // It writes milliseconds with six digits.
        const written = JSON.parse(JSON.stringify(found[path]).replaceAll(/(\.\d{3})000Z/g, '$1Z'));
        assert.deepEqual(written, await read(path), `${document} ${path}`);
      }
    }
    return `${Object.keys(modelled).length} responses with each version`;
  },
);

testTool(
  pinnedTool('aiopenapi3', 'commonism/aiopenapi3', 'Sends requests', 'aiopenapi3'),
  {
    called: '`OpenAPI.load_sync` on OpenAPI 3.0, 3.1 and 3.2, and calls of its operations',
    asserts: tourAsserts,
    runs: true,
  },
  async (t) => {
    const { origin, freshKey } = await startDemonstration(t);
    for (const document of openapiDocuments)
      assert.deepEqual(
        runPython('dynamic_client', { document: `${origin}/v1/${document}`, key: await freshKey() }),
        tour,
        document,
      );
  },
);

testTool(
  pinnedTool('FastMCP', 'PrefectHQ/fastmcp', 'Sends requests', 'fastmcp'),
  {
    called: '`FastMCP.from_openapi` on OpenAPI 3.0 and 3.1, and calls of its tools',
    asserts: 'Each operation is a tool. The tools create and list pets, and report the code of an error.',
    runs: true,
    exemptions: ['It does not read OpenAPI 3.2.'],
  },
  async (t) => {
    const { origin, freshKey } = await startDemonstration(t);
    const baseUrl = `${origin}/v1`;
    for (const document of ['openapi.json', 'openapi-3.1.json']) {
      const description = await (await fetch(`${baseUrl}/${document}`)).json();
      const { tools, names, refusal } = runPython('mcp_server', {
        description,
        baseUrl,
        key: await freshKey(),
      });
      assert.deepEqual(tools.sort(), operations.map(({ id }) => id).sort());
      assert.deepEqual(names, tour.names);
      assert.match(refusal, /not_found/);
    }
  },
);
