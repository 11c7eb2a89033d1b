import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import type { Histogram } from '../foundation/histogram.ts';
import { memoize } from '../foundation/promises.ts';

type Labels = Record<string, string>;

/** Sets the value of each series. */
type Report = (set: (labels: Labels, value: number) => void) => void;

/** How long the delays of the event loop are measured before they are first shown. */
const firstDelaysMs = 50;

/** The metrics of the process. All its services share one registry, because its collectors cannot be stopped. */
const ofProcess = memoize(async () => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges with the suffix of a counter, which promtool reports. Others have the same counts by kind.
  for (const name of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${name}_total`);
  // Without measured delays, the minimum would be shown as centuries.
  await sleep(firstDelaysMs);
  return registry;
});

export const openExposition = async () => new Exposition(await ofProcess());

/** Metrics in the text format of Prometheus. Their values are read when the text is made. */
export class Exposition {
  readonly #registry: Registry;

  constructor(ofProcess: Registry) {
    this.#registry = Registry.merge([ofProcess]);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Creates the text each time, which takes a millisecond or more. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  counter(name: string, help: string, labelNames: string[], report: Report): void {
    this.#publish(Counter, name, help, labelNames, report);
  }

  gauge(name: string, help: string, labelNames: string[], report: Report): void {
    this.#publish(Gauge, name, help, labelNames, report);
  }

  /** A histogram as prom-client publishes it: each bucket includes the smaller ones. */
  histogram(name: string, help: string, series: () => Iterable<[Labels, Histogram]>): void {
    const get = async () => ({
      name,
      help,
      type: 'histogram',
      values: [...series()].flatMap(([labels, { bounds, counts, sum }]) => {
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
      }),
    });
    this.#registry.registerMetric({ name, help, get } as unknown as Metric);
  }

  #publish(
    Kind: typeof Counter | typeof Gauge,
    name: string,
    help: string,
    labelNames: string[],
    report: Report,
  ): void {
    new Kind({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        report((labels, value) => this.inc(labels, value));
      },
    });
  }
}
