import { newStorageCounts } from '../../src/db/database.ts';
import { WriteQueue } from '../../src/db/group-commit.ts';
import { durationBounds, Histogram } from '../../src/foundation/histogram.ts';
import { Metrics } from '../../src/observe/metrics.ts';
import { newDeliveryCounts } from '../../src/store/webhooks/retry-policy.ts';

/** A metric as `/metrics` shows it. */
export interface ShownMetric {
  help: string;
  type: string;
  /** The names of its labels, without those of Prometheus' own formats. */
  labels: Set<string>;
  /** The labels of each series as written. */
  series: string[];
}

/** The metrics of a Prometheus text, by name. Those of a histogram are under its own name. */
export function metricsIn(text: string): Map<string, ShownMetric> {
  const metrics = new Map<string, ShownMetric>();
  for (const [, name = '', help = ''] of text.matchAll(/^# HELP (\w+) (.*)$/gm))
    metrics.set(name, { help, type: '', labels: new Set(), series: [] });
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
    (metrics.get(name) as ShownMetric).type = type;
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const metric = metrics.get(name) ?? metrics.get(name.replace(/_(bucket|sum|count)$/, ''));
    metric?.series.push(labels);
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) if (label !== 'le') metric?.labels.add(label);
  }
  return metrics;
}

/** The value of a series, by the text before its value. */
export function valueIn(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1));
}

/** What metrics read, while nothing happens. */
export const quietSources = {
  operations: [],
  faults: [],
  isReady: async () => true,
  deprecated: { uses: new Map() },
  missingLines: () => ({ repeated: 0, unread: 0 }),
  openStreams: () => 0,
  accounts: { created: { invite: 0 }, refused: { invite_invalid: 0 }, expired: 0 },
};

/** The metrics of a service with everything: PostgreSQL, Valkey, webhooks, and a deprecated operation. */
export async function textOfAllMetrics(): Promise<string> {
  const { measured } = new WriteQueue({
    ...{ maxRunning: 1, maxWaiting: 1, deadlineMs: 1 },
    queueOf: () => 0,
    groupSize: () => 1,
    commitGroup: async () => [],
  });
  const seconds = new Histogram(durationBounds);
  const connections = () => ({
    reads: { inUse: 1, idle: 2, waiting: 0 },
    writes: { inUse: 3, idle: 4, waiting: 5 },
  });
  const success = { kind: 'resource', status: 200, description: '' } as const;
  const deprecated = { since: '2026-01-01', sunset: '2027-01-01', successor: 'listPets' };
  const metrics = new Metrics({
    ...quietSources,
    operations: [{ id: 'listOldPets', success, deprecated }],
    faults: ['unavailable'],
    db: {
      counts: newStorageCounts(),
      measured: { ...measured, postgres: { readSeconds: seconds, connections } },
    },
    sharing: { isShared: true, fallbacks: 0, roundTrips: 0, seconds },
    deliveries: { counts: newDeliveryCounts(), lag: 0 },
  });
  return String((await metrics.text()).text);
}
