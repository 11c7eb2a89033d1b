import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readConfig } from '../../src/foundation/settings/config.ts';
import { commandLine } from '../../src/main.ts';
import { healthPaths } from '../../src/service/health.ts';
import { textOf } from '../support/tree.ts';

const manifest = (name: string) => parse(textOf(`deploy/kubernetes/${name}.yaml`));

const deployment = manifest('deployment');
const job = manifest('migrate/job');
const pods = [deployment, job].map(({ spec }) => spec.template);
const [instance] = deployment.spec.template.spec.containers;

test('the service can start with the settings of the manifests', () => {
  const [{ literals }] = manifest('settings/kustomization').configMapGenerator;
  const env = Object.fromEntries((literals as string[]).map((literal) => literal.split(/=(.*)/s)));
  const secret = {
    DATABASE_URL: 'postgres://petstore:secret@postgres:5432/petstore',
    VALKEY_URL: 'redis://:secret@valkey:6379',
    PETSTORE_SECRET_KEY: 'a secret of more than 32 characters',
  };
  const config = readConfig({ ...env, ...secret });
  assert.deepEqual(config.unknownVariables, []);
  assert.equal(config.baseUrl, env.PETSTORE_BASE_URL);
  assert.equal(config.demo, false, 'the instances have no volume');
  const page = textOf('docs/operations/kubernetes.md');
  for (const name of Object.keys(secret)) assert.ok(page.includes(`--from-literal=${name}=`), name);
});

test('no container runs as root, can become root, or writes to its image', () => {
  const [, user] = /^USER (\d+)$/m.exec(textOf('Dockerfile')) ?? [];
  for (const { spec } of pods) {
    assert.equal(spec.securityContext.runAsNonRoot, true);
    assert.equal(String(spec.securityContext.runAsUser), user);
    assert.equal(spec.securityContext.seccompProfile.type, 'RuntimeDefault');
    assert.equal(spec.automountServiceAccountToken, false);
    // Else each instance warns of variables such as PETSTORE_PORT.
    assert.equal(spec.enableServiceLinks, false);
    for (const { securityContext, resources } of spec.containers) {
      assert.deepEqual(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assert.ok(resources.requests.memory && resources.limits.memory && resources.requests.cpu);
    }
  }
});

test('the probes use paths of the service, at the port of the image', () => {
  const [, port] = /\bPORT=(\d+)/.exec(textOf('Dockerfile')) ?? [];
  assert.deepEqual(instance.ports, [{ name: 'http', containerPort: Number(port) }]);
  const { startupProbe, livenessProbe, readinessProbe } = instance;
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
    assert.ok(healthPaths.includes(httpGet.path), httpGet.path);
    assert.equal(httpGet.port, 'http');
  }
  assert.equal(manifest('service').spec.ports[0].targetPort, 'http');
  assert.equal(livenessProbe.httpGet.path, '/healthz', 'a restart does not bring the storage back');
});

test('the grace period covers the longest stop of the service and the pause before it', () => {
  const [, graceSeconds] = /stop_grace_period: (\d+)s/.exec(textOf('compose.yaml')) ?? [];
  const [, pauseSeconds] = instance.lifecycle.preStop.exec.command;
  assert.ok(
    deployment.spec.template.spec.terminationGracePeriodSeconds >=
      Number(graceSeconds) + Number(pauseSeconds),
  );
});

test('the selectors match the instances, but not the job', () => {
  const { labels } = deployment.spec.template.metadata;
  const selectors = [
    deployment.spec.selector.matchLabels,
    manifest('service').spec.selector,
    manifest('disruption-budget').spec.selector.matchLabels,
    ...deployment.spec.template.spec.topologySpreadConstraints.map(
      (constraint: { labelSelector: { matchLabels: object } }) => constraint.labelSelector.matchLabels,
    ),
  ];
  for (const selector of selectors) assert.deepEqual(selector, labels);
  assert.notDeepEqual(job.spec.template.metadata.labels, labels);
});

test('the job runs an existing command', async () => {
  const [{ args }] = job.spec.template.spec.containers;
  assert.ok((await commandLine()).commands.some((command) => command.name() === args[0]));
});
