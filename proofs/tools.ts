/** Runs all tests of tools that we did not write, and writes `docs/compatible-tools.md`: `npm run proof -- tools`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasRun, mergeRows, toolsPage } from '../tools/support/page.ts';
import type { ToolRow } from '../tools/support/tool.ts';

const leastTools = 40;
const leastRan = 25;

const cwd = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'petstore-tools-'));
const rowsFile = join(folder, 'rows');
const env = { ...process.env, CI: 'true', PETSTORE_TOOL_ROWS: rowsFile };
const run = (...args: string[]) => {
  const { status } = spawnSync(process.execPath, ['test/run.ts', ...args], { cwd, env, stdio: 'inherit' });
  assert.equal(status, 0, args.join(' '));
};

try {
  run('description', 'clients', 'tools');
  assert.equal(
    spawnSync('npm', ['ci', '--ignore-scripts', '--prefix', 'tools/swagger-client'], { cwd }).status,
    0,
  );
  // Tests of tools in other suites, and those that are too slow for one.
  const others = globSync(['test/**/*.*.ts', 'tools/*.slow.ts'], { cwd, exclude: ['**/node_modules/**'] });
  run(...others.filter((file) => readFileSync(join(cwd, file), 'utf8').includes('testTool(')));
  const lines = readFileSync(rowsFile, 'utf8').trim().split('\n');
  const rows = lines.map((text): ToolRow => JSON.parse(text));
  const tools = mergeRows(rows);
  const ran = tools.filter(hasRun);
  assert.ok(tools.length >= leastTools, `${tools.length} tools are fewer than ${leastTools}`);
  assert.ok(ran.length >= leastRan, `${ran.length} tools that ran are fewer than ${leastRan}`);
  const page = toolsPage(rows, new Date().toISOString().slice(0, 10));
  writeFileSync(join(cwd, 'docs/compatible-tools.md'), page);
  console.log(`docs/compatible-tools.md lists ${tools.length} tools; ${ran.length} ran.`);
} finally {
  rmSync(folder, { recursive: true });
}
