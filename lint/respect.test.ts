import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/support/folder.ts';
import { ampleKey, startService } from '../test/support/service.ts';
import { pinnedTool, testTool } from '../tools/support/tool.ts';

const redocly = fileURLToPath(new URL('node_modules/.bin/redocly', import.meta.url));

interface Step {
  stepId: string;
  response?: { statusCode: number };
}

interface Workflow {
  workflowId: string;
  status: string;
  executedSteps: Step[];
}

testTool(
  pinnedTool('Redocly CLI', 'Redocly/redocly-cli', 'Checks documents', '@redocly/cli'),
  {
    called: '`redocly respect` on both Arazzo documents',
    asserts: 'Every workflow runs on the demo data, and meets the failures that it rehearses.',
    runs: true,
  },
  async (t) => {
    const folder = temporaryFolder(t);
    const dataDir = join(folder, 'data');
    const { origin } = await startService(t, dataDir);
    const report = join(folder, 'report.json');
    const child = spawn(process.execPath, [
      ...[redocly, 'respect', `${origin}/v1/arazzo.yaml`, `${origin}/lab/arazzo.yaml`],
      ...['--input', `key=${await ampleKey(dataDir)}`, '--json-output', report],
    ]);
    t.after(() => child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const [status] = await once(child, 'close');
    assert.equal(status, 0, output);

    const { files } = JSON.parse(readFileSync(report, 'utf8'));
    const workflows = Object.values<{ executedWorkflows: Workflow[] }>(files).flatMap(
      ({ executedWorkflows }) => executedWorkflows,
    );
    const ran = workflows.map(({ workflowId, status, executedSteps }) => [
      workflowId,
      status,
      executedSteps
        .map(({ stepId, response }) => `${stepId} ${response?.statusCode ?? ''}`.trim())
        .join(', '),
    ]);
    assert.deepEqual(ran, [
      ['firstOrder', 'success', 'find 200, order 201, fulfil 200, read 200'],
      ['conditionalUpdate', 'success', 'read 200, change 200, refused 412, restore 200'],
      // The second step runs the workflow once more, for the pages that follow.
      ['allPages', 'success', 'page 200, rest'],
      ['deprecation', 'success', 'old 200, successor 200'],
      ['limited', 'success', 'rehearse 201, list 429, list 200, performed 200'],
      // 0 is no answer.
      ['lostAnswer', 'success', 'rehearse 201, order 0, order 201, performed 200'],
    ]);
    assert.match(output, /Running child workflow for the step rest/);
    return `${ran.length} workflows`;
  },
);
