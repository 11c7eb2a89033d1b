import { Command } from 'commander';
import { toColumns } from '../foundation/terminal-text.ts';
import type { PlannedFault } from '../lab/rehearsals/schema.ts';
import { toJson } from './terminal.ts';

export const faultsCommand = () =>
  new Command('faults')
    .description('List all faults, or describe one.')
    .argument('[name]', 'a fault, such as rate-limited')
    .option('--json', 'print all details as JSON')
    .action(async (name: string | undefined, options, command: Command) => {
      if (name !== undefined) await assertFaults(command, [{ fault: name }]);
      const catalogue = await readCatalogue();
      const one = catalogue.find((fault) => fault.name === name);
      if (options.json) console.log(toJson(one ?? catalogue));
      else console.log(one ? await describe(one) : await listOf(catalogue));
    });

/** All faults, in the form of `GET /lab/faults`. */
export async function readCatalogue() {
  const { faultCatalogue } = await import('../lab/rehearsals/catalogue.ts');
  const { petstoreApi } = await import('../lab/petstore/petstore-api.ts');
  return faultCatalogue(petstoreApi);
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

/** Ends the command with an error for the first fault that does not exist or has a wrong parameter. */
export async function assertFaults(
  command: Command,
  faults: readonly PlannedFault[],
  listCommand = 'lab faults',
): Promise<void> {
  const { faultNames } = await import('../lab/faults/list.ts');
  const { problemOf } = await import('../grade/run/validate-fault.ts');
  for (const planned of faults) {
    const { fault, operation } = planned;
    if (!faultNames.includes(fault)) {
      const hint = (await suggestionFor(fault, faultNames)) || `; "petstore ${listCommand}" lists all faults`;
      command.error(`error: there is no fault ${fault}${hint}`);
    }
    const problem = problemOf(planned);
    if (problem === undefined) continue;
    const { operations } = await import('../api/operations.ts');
    const ids = operations.map(({ id }) => id as string);
    if (operation === undefined || ids.includes(operation)) command.error(`error: ${problem}`);
    const hint =
      (await suggestionFor(operation, ids)) || `; "petstore lab faults ${fault}" lists those that it affects`;
    command.error(`error: there is no operation ${operation}${hint}`);
  }
}

/** The end of a message about an unknown name: the most similar one, if one is similar enough. */
export async function suggestionFor(name: string, names: readonly string[]): Promise<string> {
  const near = names.find((longer) => longer.startsWith(name)) ?? (await mostSimilar(name, names));
  return near === undefined ? '' : `; did you mean ${near}?`;
}

async function mostSimilar(name: string, names: readonly string[]): Promise<string | undefined> {
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch({ fields: ['id'] });
  index.addAll(names.map((id) => ({ id })));
  return index.search(name, { prefix: true, fuzzy: 0.3 })[0]?.id;
}
