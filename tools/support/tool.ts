import { appendFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { getCallSites } from 'node:util';
import { compileFunction } from 'node:vm';
import { pinnedVersion } from '../../test/clients/pins.ts';
import { whyNo } from '../../test/support/programs.ts';

/** A program or a library that we did not write, as `docs/compatible-tools.md` lists it. */
export interface Tool {
  name: string;
  /** Its repository. */
  url: string;
  version: string;
  /** The package that a manifest pins, if the version is that of a package. */
  package?: string;
  kind:
    | 'Checks documents'
    | 'Generates code'
    | 'Sends requests'
    | 'Shows documents'
    | 'Receives'
    | 'Operates';
}

/** A tool of GitHub in the version of a package that a manifest pins. */
export function pinnedTool(name: string, repository: string, kind: Tool['kind'], from: string): Tool {
  const version = pinnedVersion(from);
  if (!version) throw new Error(`No manifest pins ${from}.`);
  return { name, url: `https://github.com/${repository}`, version, package: from, kind };
}

/** What a test does with a tool. */
export interface Use {
  /** What it calls, in a few words. */
  called: string;
  /** What the test asserts, as a sentence. */
  asserts: string;
  /** Whether it sent requests to the service, or built code and ran it. */
  runs: boolean;
  /** What the tool reports or cannot do, and why that is not a defect of the documents. A sentence each. */
  exemptions?: readonly string[];
}

/** A row of `docs/compatible-tools.md`, or a part of it if a tool has several tests. */
export type ToolRow = Tool & Use & { result?: string };

/** Collects the rows of tests that passed, if a run asks for them. */
const rowsFile = process.env.PETSTORE_TOOL_ROWS;

/**
 * Tests a tool. `run` may return its result as a few words. `needs` are the programs without which the test is skipped, except
 * in CI.
 */
export function testTool(
  tool: Tool,
  use: Use,
  run: (t: TestContext) => unknown,
  needs: readonly string[] = [],
): void {
  testAtCaller(`${tool.name}: ${use.asserts}`, { skip: whyNo(...needs) }, async (t) => {
    const result = await run(t);
    const row: ToolRow = { ...tool, ...use, ...(typeof result === 'string' && { result }) };
    if (row.result) t.diagnostic(row.result);
    if (rowsFile) appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
  });
}

/**
 * Like `test`, at the place that called `testTool`. Node.js knows a failed test by its place when it runs it once more, so all
 * tests at one place of this file would be mixed up.
 */
function testAtCaller(name: string, options: object, run: (t: TestContext) => Promise<void>): void {
  const [, , { scriptName, lineNumber, columnNumber }] = getCallSites() as [Site, Site, Site];
  const place = { filename: scriptName, lineOffset: lineNumber - 1, columnOffset: columnNumber - 1 };
  compileFunction('test(...words)', ['test', 'words'], place)(test, [name, options, run]);
}

type Site = ReturnType<typeof getCallSites>[number];
