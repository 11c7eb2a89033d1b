import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { events } from '../src/store/events/schema.ts';
import { isOpenapi, writeDocuments } from '../tools/support/program.ts';
import { pinnedTool, testTool } from '../tools/support/tool.ts';

// The type check runs without the packages of this folder.
const { DiagnosticSeverity, Parser } = createRequire(import.meta.url)('@asyncapi/parser');

const cwd = fileURLToPath(new URL('.', import.meta.url));
const written = writeDocuments(`${cwd}documents`);
const documents = [...written.values()];

/** Runs a linter on documents. It must find nothing. Returns its output. */
function lint(program: string, args: string[], files = documents): string {
  const words = [`node_modules/.bin/${program}`, 'lint', ...files, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout + stderr;
}

const spectral = (args: string[], files?: string[]) =>
  lint('spectral', ['--fail-severity', 'hint', ...args], files);

testTool(
  pinnedTool('Redocly CLI', 'Redocly/redocly-cli', 'Checks documents', '@redocly/cli'),
  {
    called: '`redocly lint` with `recommended-strict` on all documents',
    asserts: 'Every document is valid, without a warning.',
    runs: false,
    exemptions: ['`security-defined` of AsyncAPI: it has no security scheme for the signatures of webhooks.'],
  },
  () => {
    const output = lint('redocly', []);
    assert.match(output, /Your API descriptions are valid/);
    for (const path of documents)
      assert.ok(output.includes(`${path.replace(cwd, '')}: validated in`), output);
    return `${documents.length} documents`;
  },
);

testTool(
  pinnedTool('Spectral', 'stoplightio/spectral', 'Checks documents', '@stoplight/spectral-cli'),
  {
    called:
      '`spectral lint --fail-severity hint` with its rules for OpenAPI, AsyncAPI and Arazzo on all documents',
    asserts: 'It finds nothing, not even a hint.',
    runs: false,
    exemptions: [
      'The rules on contact and tags of AsyncAPI are off: there is no address yet, and two channels need no tags.',
      '`asyncapi-latest-version` is off: most tools read 3.0.',
      '`oas3-examples-value-or-externalValue` is off for 3.1 and 3.2: it knows neither `serializedValue` nor the examples of schemas.',
    ],
  },
  () => {
    assert.match(spectral([]), /No results/);
    return `${documents.length} documents`;
  },
);

testTool(
  pinnedTool(
    "Spectral's OWASP ruleset",
    'stoplightio/spectral-owasp-ruleset',
    'Checks documents',
    '@stoplight/spectral-owasp-ruleset',
  ),
  {
    called: '`spectral lint --ruleset owasp.yaml` on all OpenAPI documents',
    asserts: 'It finds nothing, not even a hint.',
    runs: false,
    exemptions: ['`lint/owasp.yaml` names each rule that is off, with the reason.'],
  },
  () => {
    const files = [...written].flatMap(([name, path]) => (isOpenapi(name) ? [path] : []));
    assert.match(spectral(['--ruleset', 'owasp.yaml'], files), /No results/);
    return `${files.length} documents`;
  },
);

testTool(
  pinnedTool('AsyncAPI parser', 'asyncapi/parser-js', 'Checks documents', '@asyncapi/parser'),
  {
    called: '`new Parser().parse` on the AsyncAPI document',
    asserts: 'The document is valid, without a warning, and has every message.',
    runs: false,
    exemptions: ['It recommends a newer version of AsyncAPI, as information.'],
  },
  async () => {
    const path = written.get('asyncapi') as string;
    const { document, diagnostics } = await new Parser().parse(readFileSync(path, 'utf8'));
    const findings = diagnostics.filter(
      ({ severity }: { severity: number }) => severity <= DiagnosticSeverity.Warning,
    );
    assert.deepEqual(findings, []);
    const messages = document?.allMessages().length ?? 0;
    // The messages of the stream and of webhooks, where there are two more.
    assert.equal(messages, 2 * events.length + 2);
    return `${messages} messages`;
  },
);
