import type { Command } from 'commander';

/** Ends a command with a wrong call unless there is a fault of each name. `lists` is the command that lists them. */
export async function assertFaults(
  command: Command,
  names: readonly string[],
  lists = 'lab faults',
): Promise<void> {
  const { faultNames } = await import('../lab/rehearsals/faults.ts');
  for (const name of names) {
    if (faultNames.includes(name)) continue;
    const near = await nearest(name, faultNames);
    command.error(
      `error: there is no fault ${name}; ${near ? `did you mean ${near}?` : `"petstore ${lists}" lists them`}`,
    );
  }
}

/** The name that is meant most likely. */
async function nearest(name: string, names: readonly string[]): Promise<string | undefined> {
  const longer = names.find((longer) => longer.startsWith(name));
  if (longer) return longer;
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch({ fields: ['id'] });
  index.addAll(names.map((id) => ({ id })));
  return index.search(name, { prefix: true, fuzzy: 0.3 })[0]?.id;
}
