import { Command } from 'commander';
import { toColumns } from '../columns.ts';
import { assertFaults } from './lab-fault-names.ts';
import { toJson } from './output.ts';

export const faultsCommand = () =>
  new Command('faults')
    .description('List the faults that can be rehearsed, or tell all about one.')
    .argument('[name]', 'a fault, such as rate-limited')
    .option('--json', 'print all that is known of them as JSON')
    .action(async (name: string | undefined, options, command: Command) => {
      if (name !== undefined) await assertFaults(command, [name]);
      const catalogue = await readCatalogue();
      const one = catalogue.find((fault) => fault.name === name);
      if (options.json) console.log(toJson(one ?? catalogue));
      else console.log(one ? await describe(one) : await listOf(catalogue));
    });

/** All that is known of every fault. */
export async function readCatalogue() {
  const { toCatalogue } = await import('../lab/rehearsals/catalogue.ts');
  const { operations } = await import('../operations.ts');
  return toCatalogue(operations);
}

type Fault = Awaited<ReturnType<typeof readCatalogue>>[number];

async function listOf(catalogue: readonly Fault[]): Promise<string> {
  const { operations } = await import('../operations.ts');
  const rows = catalogue.map(({ name, kind, parameters, operations: fitting, does }) => [
    name,
    kind,
    fitting.length === operations.length ? 'all' : `${fitting.length} of ${operations.length}`,
    parameters.map((parameter) => `${parameter.name}=${parameter.default}`).join(' '),
    does,
  ]);
  return `${toColumns([['FAULT', 'KIND', 'ON', 'PARAMETERS', 'WHAT THE SERVICE DOES'], ...rows])}

ON is of how many operations. What a good client does, and all else: petstore lab faults NAME`;
}

async function describe({ name, kind, takesOperation, parameters, ...fault }: Fault): Promise<string> {
  const { checks } = await import('../lab/report/checks/all.ts');
  const shown = checks.filter(({ faults }) => faults.includes(name)).map((check) => check.name);
  return toColumns([
    ['Fault', name],
    ['Group', fault.group],
    ['The service', fault.does],
    ['A good client', fault.goodClient],
    ['Where it bites', fault.bites],
    [
      'Kind',
      kind === 'step' ? 'step: performed a number of times' : 'condition: lasts as long as its rehearsal',
    ],
    ...parameters.map(({ name, description, minimum, maximum, default: usual }) => [
      'Takes',
      `${name}: ${description} From ${minimum} to ${maximum}, ${usual} if absent.`,
    ]),
    ['Checks', shown.join(' ') || 'none of its own'],
    ['Operations', fault.operations.join(' ')],
    ['Example', `petstore lab rehearse ${name}${exampleOf({ takesOperation, parameters, ...fault })}`],
  ]);
}

/** What a fault takes, behind its name. */
function exampleOf({
  takesOperation,
  operations,
  parameters,
}: Pick<Fault, 'takesOperation' | 'operations' | 'parameters'>): string {
  const taken = [
    ...(takesOperation ? [`operation=${operations[0]}`] : []),
    ...parameters.map((parameter) => `${parameter.name}=${parameter.default}`),
  ];
  return taken.length > 0 ? `:${taken.join(',')}` : '';
}
