import { Command } from 'commander';
import { toColumns } from '../foundation/terminal-text.ts';
import { maxUses } from '../lab/lab-bounds.ts';
import { selectorOf } from '../lab/rehearsals/fault-selector.ts';
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
      `${kind}: ${kind === 'step' ? 'performed a number of times' : 'lasts as long as its rehearsal'}`,
    ],
    ...parameters.map((parameter) => [
      'Parameter',
      `${parameter.name}: ${parameter.description} ${rangeOf(parameter)}, ${defaultOf(parameter)} if absent.`,
    ]),
    ['Checks', shown.join(' ') || 'none'],
    ['Operations', fault.operations.join(' ')],
    ['Example', `petstore lab rehearse ${exampleOf({ name, kind, takesOperation, parameters, ...fault })}`],
  ]);
}

type Parameter = Fault['parameters'][number];

const defaultOf = ({ values, default: usual }: Parameter) => values?.[0] ?? usual;
const inDefault = (parameter: Parameter) => `${parameter.name}=${defaultOf(parameter)}`;
const rangeOf = ({ values, minimum, maximum }: Parameter) =>
  values ? `One of ${values.join(', ')}` : `From ${minimum} to ${maximum}`;

/** A fault with its defaults, on the first operation that it affects. */
const exampleOf = ({ name, takesOperation, operations, parameters }: Fault): string =>
  selectorOf({
    fault: name,
    ...(takesOperation && operations[0] !== undefined && { operation: operations[0] }),
    ...Object.fromEntries(parameters.map((parameter) => [parameter.name, defaultOf(parameter)])),
  });

/** Ends the command with an error for the first fault that does not exist or has a wrong parameter. */
export async function assertFaults(command: Command, faults: PlannedFault[], listCommand = 'lab faults') {
  const catalogue = await readCatalogue();
  const names = catalogue.map(({ name }) => name);
  const operations = [...new Set(catalogue.flatMap((fault) => fault.operations))];
  for (const { fault: name, ...given } of faults) {
    const fault = catalogue.find((one) => one.name === name);
    if (!fault) {
      const hint = (await suggestionFor(name, names)) || `; "petstore ${listCommand}" lists all faults`;
      command.error(`error: there is no fault ${name}${hint}`);
    }
    const problem = faultProblem(fault, given);
    if (problem === undefined) continue;
    const { operation } = given;
    if (operation === undefined || operations.includes(operation)) command.error(`error: ${problem}`);
    const hint =
      (await suggestionFor(operation, operations)) ||
      `; "petstore lab faults ${name}" lists those that it affects`;
    command.error(`error: there is no operation ${operation}${hint}`);
  }
}

/** What is wrong with the parameters of a fault, and what is allowed, in a sentence. Undefined if they are valid. */
export function faultProblem(fault: Fault, given: Omit<PlannedFault, 'fault'>): string | undefined {
  const { name, kind, takesOperation, operations, parameters } = fault;
  const taken: Pick<Parameter, 'name' | 'minimum' | 'maximum' | 'values'>[] = [
    ...(takesOperation ? [{ name: 'operation', values: operations }] : []),
    ...(kind === 'step' ? [{ name: 'after', minimum: 0, maximum: maxUses }] : []),
    ...(kind === 'step' ? [{ name: 'times', minimum: 1, maximum: maxUses }] : []),
    ...parameters,
  ];
  for (const [parameter, value] of Object.entries(given)) {
    const known = taken.find((one) => one.name === parameter);
    if (!known)
      return `${name} takes no ${parameter}: it takes ${taken.map((one) => one.name).join(', ') || 'no parameters'}`;
    const { values, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = known;
    const isValid = values
      ? values.includes(value as string)
      : Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
    if (isValid) continue;
    if (parameter === 'operation') return `${name} cannot affect ${value}, only ${operations.join(', ')}`;
    const rule = values ? `one of ${values.join(', ')}` : `an integer from ${minimum} to ${maximum}`;
    return `${parameter} of ${name} must be ${rule}, not ${value}`;
  }
  return undefined;
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
