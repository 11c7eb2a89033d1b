import { setTimeout as sleep } from 'node:timers/promises';
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import { Histogram } from '../foundation/histogram.ts';
import { memoize } from '../foundation/promises.ts';

type Labels = Readonly<Record<string, string>>;
type Value = number | Histogram;

/** A metric. Its values are read when the text is made. */
export interface MetricFamily {
  type: 'counter' | 'gauge' | 'histogram';
  name: string;
  help: string;
  /** The value, or the value of each series by its labels. */
  read(): Value | Iterable<readonly [Labels, Value]>;
}

/** How long the delays of the event loop are measured before they are first shown. */
const firstDelaysMs = 50;

/** The metrics of the process. All its services share one registry, because its collectors cannot be stopped. */
const processRegistry = memoize(async () => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges with the suffix of a counter, which promtool reports. Others have the same counts by kind.
  for (const name of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${name}_total`);
  // Without measured delays, the minimum would be shown as centuries.
  await sleep(firstDelaysMs);
  return registry;
});

/** A registry with these metrics and those of the process. It makes the text each time, which takes a millisecond or more. */
export async function openRegistry(families: readonly MetricFamily[]): Promise<Registry> {
  const registry = Registry.merge([await processRegistry()]);
  for (const { type, name, help, read } of families) {
    const get = async () => ({ name, help, type, values: samplesOf(name, read()) });
    registry.registerMetric({ name, help, get } as unknown as Metric);
  }
  return registry;
}

interface Sample {
  metricName: string;
  labels: Record<string, string | number>;
  value: number;
}

function samplesOf(name: string, read: ReturnType<MetricFamily['read']>): Sample[] {
  const series = typeof read === 'number' || read instanceof Histogram ? [[{}, read] as const] : read;
  return Array.from(series).flatMap(([labels, value]): Sample[] =>
    typeof value === 'number'
      ? [{ metricName: name, labels, value }]
      : samplesOfHistogram(name, labels, value),
  );
}

/** Each bucket includes the smaller ones. */
function samplesOfHistogram(name: string, labels: Labels, { bounds, counts, sum }: Histogram): Sample[] {
  let count = 0;
  const buckets = [...bounds, '+Inf'].map((le, i) => {
    count += counts[i] as number;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
