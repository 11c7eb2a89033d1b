import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/support/folder.ts';
import { whyNo } from '../test/support/programs.ts';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const kustomize = 'sigs.k8s.io/kustomize/kustomize/v5@v5.8.1';
/** The oldest version that has every field, and the newest that is known here. */
const versions = ['1.31', '1.37'];

test('the manifests fit together, and are what the schemas of Kubernetes allow', {
  skip: whyNo('go'),
}, (t) => {
  const folder = temporaryFolder(t);
  for (const [name, resources] of [
    ['kubernetes', ['configmap', 'deployment', 'poddisruptionbudget', 'service']],
    ['kubernetes/migrate', ['configmap', 'job']],
  ] as const) {
    const built = spawnSync('go', ['run', kustomize, 'build', fileAt(`../deploy/${name}`)], {
      encoding: 'utf8',
    });
    assert.equal(built.status, 0, built.stderr);
    const file = join(folder, 'built.yaml');
    writeFileSync(file, built.stdout);
    for (const version of versions) {
      const { status, stdout, stderr } = spawnSync(
        'python3',
        ['-m', 'kubernetes_validate', '--strict', '-k', version, file],
        { encoding: 'utf8', env: { ...process.env, PYTHONPATH: fileAt('node_modules/.cache/python') } },
      );
      assert.equal(status, 0, stdout + stderr);
      const passed = [...stdout.matchAll(/passed for resource (\w+)\//g)].map(([, kind]) => kind);
      assert.deepEqual(passed.sort(), resources, stdout);
    }
  }
});
