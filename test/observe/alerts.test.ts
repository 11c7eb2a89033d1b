import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { type Tool, testTool } from '../../tools/support/tool.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startPetstore } from '../support/petstore.ts';
import { fileAt, textOf } from '../support/tree.ts';
import { metricsIn, textOfAllMetrics } from './metrics.ts';

const spawned = (args: readonly string[], input = '') =>
  spawnSync('promtool', args, { encoding: 'utf8', input });

/** The promtool of this machine, if there is one. */
const promtool: Tool = {
  name: 'promtool',
  url: 'https://github.com/prometheus/prometheus',
  version: /version ([\d.]+)/.exec(spawned(['--version']).stdout ?? '')?.[1] ?? '',
  kind: 'Operates',
};

/** Runs promtool. It must succeed. */
function runPromtool(args: readonly string[], input?: string): void {
  const { status, stdout, stderr } = spawned(args, input);
  assert.equal(status, 0, stdout + stderr);
}

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; reason: string };
}

const alerts: Alert[] = parse(textOf('deploy/prometheus/alerts.yaml')).groups[0].rules;
const dashboard = JSON.parse(textOf('deploy/grafana/petstore.json'));
type Query = { expr: string };
const ofPanels = (dashboard.panels as { targets?: Query[] }[]).flatMap(({ targets = [] }) => targets);
const ofDashboard = [...ofPanels, ...(dashboard.annotations.list as Query[])].map(({ expr }) => expr);

/** Labels that Prometheus adds to scraped series. */
const added = ['job', 'instance'];

test('each metric, label and value that an alert or the dashboard names is in /metrics from the start', async (t) => {
  const full = metricsIn(await textOfAllMetrics());
  const started = metricsIn(await (await startPetstore(t, { seed: false })).metrics());
  const find = (metrics: typeof full, name: string) =>
    metrics.get(name) ?? metrics.get(name.replace(/_(bucket|sum|count)$/, ''));
  let named = 0;
  for (const expr of [...alerts.map(({ expr }) => expr), ...ofDashboard]) {
    const labels = [...added, 'le'];
    for (const [, name = '', matchers = ''] of expr.matchAll(/\b(\w+_\w+)(?:\{(.*?)\}|(?=\[| [=<>]|\)))/g)) {
      const metric = find(full, name);
      assert.ok(metric, `${name} in ${expr}`);
      named++;
      labels.push(...metric.labels);
      const { series } = find(started, name) ?? metric;
      for (const [, label = '', value = ''] of matchers.matchAll(/(\w+)=~?"([^"]*)"/g)) {
        const matcher = `${label}="${value}"`;
        const isThere = added.includes(label) || series.some((one) => one.includes(matcher));
        assert.ok(isThere, `${name}{${matcher}}`);
      }
    }
    if (expr.includes('nodejs_gc_')) continue; // It has no series before the first garbage collection.
    for (const [, names = ''] of expr.matchAll(/\bby \(([^)]*)\)/g))
      for (const label of names.split(', ')) assert.ok(labels.includes(label), `${label} in ${expr}`);
  }
  assert.ok(named > 40, String(named));
});

test('each alert has a summary, a reason, a test, and a line that says what to do', () => {
  assert.ok(alerts.length >= 8);
  const page = textOf('docs/operations.md');
  const tests = textOf('deploy/prometheus/alerts.test.yaml');
  for (const { alert, labels, annotations } of alerts) {
    assert.match(labels.severity, /^(page|ticket)$/);
    assert.match(annotations.summary, /\.$/, alert);
    assert.match(annotations.reason, /\.$/, alert);
    assert.match(page, new RegExp(`^\\| \`${alert}\` \\| ${labels.severity} \\| .+\\. \\|$`, 'm'));
    assert.ok(tests.includes(`alertname="${alert}"`), alert);
  }
});

const checked = (called: string, asserts: string) => ({ called: `\`${called}\``, asserts, runs: false });

testTool(
  promtool,
  checked('check metrics', 'It accepts the text of all metrics.'),
  async () => runPromtool(['check', 'metrics'], await textOfAllMetrics()),
  ['promtool'],
);

testTool(
  promtool,
  checked('check rules` and `test rules', 'It accepts the alerts, and each fires when it should.'),
  () => {
    runPromtool(['check', 'rules', fileAt('deploy/prometheus/alerts.yaml')]);
    runPromtool(['test', 'rules', fileAt('deploy/prometheus/alerts.test.yaml')]);
  },
  ['promtool'],
);

testTool(
  promtool,
  checked('check config', 'It accepts the settings that the pages show.'),
  (t) => {
    const folder = temporaryFolder(t);
    copyFileSync(fileAt('deploy/prometheus/alerts.yaml'), join(folder, 'alerts.yaml'));
    for (const page of ['metrics', 'kubernetes']) {
      const [, settings] =
        /```yaml\n(scrape_configs:.+?)```/s.exec(textOf(`docs/operations/${page}.md`)) ?? [];
      assert.ok(settings, page);
      // The promtool of Debian cannot query Kubernetes.
      const known = settings.replace(/kubernetes_sd_configs: .*/, 'static_configs: []');
      writeFileSync(join(folder, 'prometheus.yaml'), known);
      runPromtool(['check', 'config', join(folder, 'prometheus.yaml')]);
    }
  },
  ['promtool'],
);

testTool(
  promtool,
  checked('check rules', 'It accepts each query of the dashboard.'),
  (t) => {
    const rules = ofDashboard.map((expr, i) => ({
      record: `query_${i}`,
      expr: expr.replaceAll('$__rate_interval', '1m'),
    }));
    assert.ok(rules.length > 20);
    const file = join(temporaryFolder(t), 'queries.yaml');
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }));
    runPromtool(['check', 'rules', file]);
  },
  ['promtool'],
);
