import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { generator, type Load, type Result, send } from './load.ts';

/** A load whose results are compared with those of others. */
export type Target = (Load | OwnLoad) & {
  name: string;
  /** Least share of the first target's rate. */
  bar?: number;
  /** Most times the first target's p99. */
  p99Bar?: number;
  /** The processor time that its servers have used until now. */
  cpuMs?(): number;
};

/** What a load measured, and the processor time of the servers for one answer, which other work on the machine hardly changes. */
type Outcome = Result & { cpuMicros?: number };

/** A load that another program makes, and that needs no warm-up. */
interface OwnLoad {
  run(seconds: number): Promise<Result>;
}

export type Measured = Target & { results: Outcome[] };

/** How long is measured, and whether a missed bar fails the run. */
export interface Effort {
  rounds: number;
  seconds: number;
  check: boolean;
  against?: string | undefined;
}

/**
 * The command line: `--rounds`, `--seconds`, `--check`, `--against` with a folder that holds another version of this project,
 * and numbers of the benchmark's own with their defaults.
 */
export function readOptions<Name extends string>(
  defaults: Partial<Record<Name, number>> = {},
): Effort & Record<Name, number> {
  const numbers = { rounds: 5, seconds: 3, ...defaults } as Record<string, number>;
  const options = Object.fromEntries(Object.keys(numbers).map((name) => [name, { type: 'string' as const }]));
  const parsed = parseArgs({
    options: { ...options, check: { type: 'boolean' }, against: { type: 'string' } },
  });
  const values: Record<string, string | boolean | undefined> = parsed.values;
  const read = Object.entries(numbers).map(([name, value]) => [name, Number(values[name] ?? value)]);
  const { check, against } = parsed.values;
  return { ...Object.fromEntries(read), check: check === true, against };
}

/** After so many requests V8 has compiled what serves them, whatever a server does. */
const warmUpRequests = 70_000;
const warmUpSteps = { seconds: 2, most: 15 };

/** Tells where and how is measured. */
export function introduce({ rounds, seconds }: Effort): void {
  const today = new Date().toISOString().slice(0, 10);
  console.log(`${today}, Node.js ${process.version}, ${cpus()[0]?.model}, ${availableParallelism()} cores.`);
  console.log(
    `${generator}, medians of ${rounds} rounds of ${seconds} s, in turn; each ratio is the median of its rounds.`,
  );
}

/** Measures targets in turn, prints their table, and holds them against their bars. */
export async function compare(title: string, targets: Target[], effort: Effort): Promise<Measured[]> {
  const measured: Measured[] = targets.map((target) => ({ ...target, results: [] }));
  for (const target of measured) await warmUp(target);
  for (let round = 0; round < effort.rounds; round++) {
    // There and back, so that a machine that grows slower or faster favours none.
    const turn = round % 2 === 0 ? measured : measured.toReversed();
    for (const target of turn) target.results.push(await measure(target, effort.seconds));
  }
  console.log(`\n### ${title}\n\n${tableOf(measured)}`);
  const [first] = measured as [Measured];
  for (const target of measured) {
    const { name, bar, p99Bar } = target;
    if (bar) holdAtLeast(name, ratioOf(target, first, 'perSecond'), bar, effort);
    if (p99Bar) holdAtMost(`p99 of ${name}`, ratioOf(target, first, 'p99Ms'), p99Bar, effort);
  }
  return measured;
}

async function measure(target: Target, seconds: number): Promise<Outcome> {
  const beforeMs = target.cpuMs?.();
  const result = await ('run' in target ? target.run(seconds) : send(target, seconds));
  if (!target.cpuMs || beforeMs === undefined) return result;
  return { ...result, cpuMicros: ((target.cpuMs() - beforeMs) * 1_000) / (result.perSecond * seconds) };
}

/** Slow servers get half a minute. */
async function warmUp(load: Target): Promise<void> {
  if ('run' in load) return;
  const { seconds, most } = warmUpSteps;
  let requests = 0;
  for (let step = 0; step < most && requests < warmUpRequests; step++) {
    const { perSecond } = await send(load, seconds);
    requests += perSecond * seconds;
  }
}

export const holdAtLeast = (what: string, value: number, bar: number, effort: Effort) =>
  hold(what, value, `at least ${bar.toFixed(2)}`, value >= bar, effort);

export const holdAtMost = (what: string, value: number, bar: number, effort: Effort) =>
  hold(what, value, `at most ${bar.toFixed(2)}`, value <= bar, effort);

function hold(what: string, value: number, bar: string, isMet: boolean, { check }: Effort): void {
  console.log(`\n${isMet ? 'Met' : 'MISSED'}: ${what}: ${value.toFixed(2)}, ${bar}`);
  if (!isMet && check) process.exitCode = 1;
}

/** Answers a second. */
export const rateOf = ({ results }: Measured) => median(results.map(({ perSecond }) => perSecond));
const p50Of = ({ results }: Measured) => median(results.map(({ p50Ms }) => p50Ms));
export const p99Of = ({ results }: Measured) => median(results.map(({ p99Ms }) => p99Ms));

const cpuOf = ({ results }: Measured) => median(results.map(({ cpuMicros }) => Number(cpuMicros)));

/** The median of what each round gives: neighbours in time share what else the machine does. */
export const ratioOf = (target: Measured, base: Measured, figure: keyof Outcome) =>
  median(
    target.results.map(
      (result, round) => Number(result[figure]) / Number((base.results[round] as Outcome)[figure]),
    ),
  );

/** The value below which a share of all is. */
export const quantile = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(Math.floor(values.length * share), values.length - 1)] as number;

export const median = (values: number[]) => quantile(values, 0.5);

function tableOf(measured: Measured[]): string {
  const [first] = measured as [Measured];
  const hasCpu = measured.some(({ cpuMs }) => cpuMs);
  const rows = measured.map((target) => {
    const rates = target.results.map(({ perSecond }) => perSecond);
    return [
      target.name,
      whole(rateOf(target)),
      `${whole(Math.min(...rates))}–${whole(Math.max(...rates))}`,
      p50Of(target).toFixed(2),
      p99Of(target).toFixed(2),
      ratioOf(target, first, 'perSecond').toFixed(2),
      ...(hasCpu ? [target.cpuMs ? cpuOf(target).toFixed(0) : ''] : []),
    ];
  });
  const head = ['', 'Requests/s', 'Spread', 'p50 ms', 'p99 ms', 'Ratio', ...(hasCpu ? ['CPU µs'] : [])];
  return markdownTable([head, ...rows]);
}

/** A table in Markdown, of a line of heads and lines of figures behind a name. */
export function markdownTable([head = [], ...rows]: string[][]): string {
  const lines = [head, head.map((_, i) => (i === 0 ? '---' : '--:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export const whole = (value: number) => Math.round(value).toLocaleString('en-US');
