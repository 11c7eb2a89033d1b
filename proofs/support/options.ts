import { parseArgs } from 'node:util';

/** Numbers of the command line, such as `--rounds 5`, by their names with their defaults. Without `--seed`, the seed is random. */
export function readNumbers<Name extends string>(
  defaults: Record<Name, number>,
): Record<Name | 'seed', number> {
  const all = { seed: Date.now() % 1_000_000_000, ...defaults };
  const names = Object.keys(all) as (Name | 'seed')[];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ options });
  const read = names.map((name) => [name, Number(values[name] ?? all[name])]);
  return Object.fromEntries(read);
}
