import { Command } from 'commander';
import { toColumns } from '../foundation/columns.ts';
import { toJson } from './terminal.ts';

export const faultsCommand = () =>
  new Command('faults')
    .description('List all faults, or describe one.')
    .argument('[name]', 'a fault, such as rate-limited')
    .option('--json', 'print all details as JSON')
    .action(async (name: string | undefined, options, command: Command) => {
      if (name !== undefined) await assertFaults(command, [name]);
      const catalogue = await readCatalogue();
      const one = catalogue.find((fault) => fault.name === name);
      if (options.json) console.log(toJson(one ?? catalogue));
      else console.log(one ? await describe(one) : await listOf(catalogue));
    });

/** All faults, in the form of `GET /lab/faults`. */
export async function readCatalogue() {
  const { faultCatalogue } = await import('../lab/rehearsals/catalogue.ts');
  return faultCatalogue();
}

type Fault = Awaited<ReturnType<typeof readCatalogue>>[number];

async function listOf(catalogue: readonly Fault[]): Promise<string> {
  const { operations } = await import('../api/operations.ts');
  const rows = catalogue.map(({ name, kind, parameters, operations: fitting, does }) => [
    name,
    kind,
    fitting.length === operations.length ? 'all' : `${fitting.length} of ${operations.length}`,
    parameters.map(inDefault).join(' '),
    does,
  ]);
  return `${toColumns([['FAULT', 'KIND', 'ON', 'PARAMETERS', 'WHAT THE SERVICE DOES'], ...rows])}

ON: the number of operations that the fault can affect.
Describe one fault: petstore lab faults NAME`;
}

async function describe({ name, kind, takesOperation, parameters, ...fault }: Fault): Promise<string> {
  const { checks } = await import('../lab/checks/list.ts');
  const shown = checks.filter(({ faults }) => faults.includes(name)).map((check) => check.name);
  return toColumns([
    ['Fault', name],
    ['Group', fault.group],
    ['The service', fault.does],
    ['A good client', fault.goodClient],
    ['Why it matters', fault.bites],
    [
      'Kind',
      kind === 'step' ? 'step: performed a number of times' : 'condition: lasts as long as its rehearsal',
    ],
    ...parameters.map((parameter) => [
      'Parameter',
      `${parameter.name}: ${parameter.description} ${rangeOf(parameter)}, ${defaultOf(parameter)} if absent.`,
    ]),
    ['Checks', shown.join(' ') || 'none'],
    ['Operations', fault.operations.join(' ')],
    ['Example', `petstore lab rehearse ${name}${exampleOf({ takesOperation, parameters, ...fault })}`],
  ]);
}

type Parameter = Fault['parameters'][number];

const defaultOf = ({ values, default: usual }: Parameter) => values?.[0] ?? usual;
const inDefault = (parameter: Parameter) => `${parameter.name}=${defaultOf(parameter)}`;
const rangeOf = ({ values, minimum, maximum }: Parameter) =>
  values ? `One of ${values.join(', ')}` : `From ${minimum} to ${maximum}`;

/** The parameters of an example, after the name of the fault. */
function exampleOf({
  takesOperation,
  operations,
  parameters,
}: Pick<Fault, 'takesOperation' | 'operations' | 'parameters'>): string {
  const taken = [...(takesOperation ? [`operation=${operations[0]}`] : []), ...parameters.map(inDefault)];
  return taken.length > 0 ? `:${taken.join(',')}` : '';
}

/** Ends a command with a usage error if a name is not that of a fault. `listCommand` lists the faults. */
export async function assertFaults(
  command: Command,
  names: readonly string[],
  listCommand = 'lab faults',
): Promise<void> {
  const { faultNames } = await import('../lab/faults/list.ts');
  for (const name of names) {
    if (faultNames.includes(name)) continue;
    const near = await nearest(name, faultNames);
    command.error(
      `error: there is no fault ${name}; ${near ? `did you mean ${near}?` : `"petstore ${listCommand}" lists all faults`}`,
    );
  }
}

/** The most similar name, if one is similar enough. */
async function nearest(name: string, names: readonly string[]): Promise<string | undefined> {
  const longer = names.find((longer) => longer.startsWith(name));
  if (longer) return longer;
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch({ fields: ['id'] });
  index.addAll(names.map((id) => ({ id })));
  return index.search(name, { prefix: true, fuzzy: 0.3 })[0]?.id;
}
