import { appendFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { whyNo } from '../../test/support/programs.ts';

/** A program or a library that we did not write, as `docs/compatible-tools.md` lists it. */
export interface Tool {
  name: string;
  /** Its repository. */
  url: string;
  version: string;
  kind:
    | 'Checks documents'
    | 'Generates code'
    | 'Sends requests'
    | 'Shows documents'
    | 'Receives'
    | 'Operates';
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
export type ToolRow = Tool & Use;

/** Collects the rows of tests that passed, if a run asks for them. */
const rowsFile = process.env.PETSTORE_TOOL_ROWS;

/** Tests a tool. `needs` are the programs without which the test is skipped, except in CI. */
export function testTool(
  tool: Tool,
  use: Use,
  run: (t: TestContext) => Promise<void> | void,
  needs: readonly string[] = [],
): void {
  test(`${tool.name}: ${use.asserts}`, { skip: whyNo(...needs) }, async (t) => {
    await run(t);
    if (rowsFile) appendFileSync(rowsFile, `${JSON.stringify({ ...tool, ...use } satisfies ToolRow)}\n`);
  });
}
