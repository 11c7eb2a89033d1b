import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/support/folder.ts';
import { python } from './support/python.ts';
import { pinnedTool, testTool } from './support/tool.ts';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const version = 'v5.8.1';
const kustomize = `sigs.k8s.io/kustomize/kustomize/v5@${version}`;
/** The oldest version that has every field, and the newest that is known here. */
const versions = ['1.31', '1.37'];
const manifests = [
  ['kubernetes', ['configmap', 'deployment', 'poddisruptionbudget', 'service']],
  ['kubernetes/migrate', ['configmap', 'job']],
] as const;

function build(name: string): string {
  const built = spawnSync('go', ['run', kustomize, 'build', fileAt(`../deploy/${name}`)], {
    encoding: 'utf8',
  });
  assert.equal(built.status, 0, built.stderr);
  return built.stdout;
}

testTool(
  { name: 'kustomize', url: 'https://github.com/kubernetes-sigs/kustomize', version, kind: 'Operates' },
  {
    called: '`kustomize build` on `deploy/kubernetes` and its job',
    asserts: 'The manifests fit together, and give all resources.',
    runs: false,
  },
  () => {
    for (const [name, resources] of manifests) {
      const kinds = [...build(name).matchAll(/^kind: (\w+)/gm)].map(([, kind]) => kind?.toLowerCase());
      assert.deepEqual(kinds.sort(), resources);
    }
  },
  ['go'],
);

testTool(
  pinnedTool('kubernetes-validate', 'willthames/kubernetes-validate', 'Operates', 'kubernetes-validate'),
  {
    called: '`kubernetes_validate --strict` on the built manifests',
    asserts: `The schemas of Kubernetes ${versions.join(' and ')} allow every resource.`,
    runs: false,
  },
  (t) => {
    const file = join(temporaryFolder(t), 'built.yaml');
    for (const [name, resources] of manifests) {
      writeFileSync(file, build(name));
      for (const version of versions) {
        const output = python(['-m', 'kubernetes_validate', '--strict', '-k', version, file]);
        const passed = [...output.matchAll(/passed for resource (\w+)\//g)].map(([, kind]) => kind);
        assert.deepEqual(passed.sort(), resources, output);
      }
    }
  },
  ['go'],
);
