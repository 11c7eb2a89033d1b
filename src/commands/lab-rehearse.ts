import { Command, InvalidArgumentError, Option } from 'commander';
import type { PlannedFault, Rehearsal } from '../lab/rehearsals/schema.ts';
import { LabService } from '../lab-service.ts';
import { readClient, withClientOptions } from './client.ts';
import { assertFaults } from './lab-fault-names.ts';
import { printLines, printRows, toJson } from './output.ts';

const examples = `
A fault is its name, and what it takes behind a colon; "petstore lab faults" lists them:
  petstore lab rehearse rate-limited
  petstore lab rehearse rate-limited:operation=placeOrder,times=2,retryAfterSeconds=2 lost-answer:operation=createPet
Each takes operation (an operationId; without it, every one that fits). Most take times, on each operation, and after,
the number of requests that pass first.`;

export const rehearseCommand = () =>
  withClientOptions(
    new Command('rehearse')
      .description('Make a running service perform faults, for one key alone. The rehearsal before ends.')
      .argument('[fault...]', 'faults to perform, such as rate-limited:operation=placeOrder', addFault)
      .option('--expires <seconds>', 'when it ends by itself; by default after 10 minutes', parseCount)
      .addOption(new Option('--show', 'show what was performed until now').conflicts(['end', 'expires']))
      .addOption(new Option('--end', 'end the rehearsal, and show what was performed').conflicts('expires'))
      .option('--json', 'print JSON'),
  )
    .addHelpText('after', examples)
    .action(async (faults: PlannedFault[], options, command: Command) => {
      const hasFaults = faults.length > 0;
      if (hasFaults === Boolean(options.show || options.end))
        command.error('error: name the faults to perform, or give --show or --end alone');
      await assertFaults(
        command,
        (faults ?? []).map(({ fault }) => fault),
      );
      const service = new LabService(readClient(options));
      const rehearsal = hasFaults
        ? await begin(service, faults, options.expires)
        : await lastOf(service, options.end === true);
      if (options.json) printLines(toJson(rehearsal));
      else show(rehearsal);
    });

const begin = (service: LabService, faults: PlannedFault[], expiresInSeconds: number | undefined) =>
  service.json<Rehearsal>('POST', '/rehearsals', { faults, ...(expiresInSeconds && { expiresInSeconds }) });

/** The rehearsal that began last. Ends it first if asked to. */
async function lastOf(service: LabService, isToEnd: boolean): Promise<Rehearsal> {
  const [last] = await service.json<Rehearsal[]>('GET', '/rehearsals');
  if (!last) throw new Error('This key has no rehearsal.');
  return isToEnd && isActive(last) ? service.json<Rehearsal>('DELETE', `/rehearsals/${last.id}`) : last;
}

const isActive = ({ endedAt, expiresAt }: Rehearsal) =>
  endedAt === undefined && Date.parse(expiresAt) > Date.now();

function show(rehearsal: Rehearsal): void {
  const { id, expiresAt, endedAt, faults } = rehearsal;
  const until = isActive(rehearsal) ? `is active until ${expiresAt}` : `ended at ${endedAt ?? expiresAt}`;
  console.log(`Rehearsal ${id} ${until}.\n`);
  printRows(
    faults.map(({ fault, operation, performed, remaining, repeated, ...parameters }) => ({
      fault,
      operation: operation ?? 'every one',
      parameters: Object.entries(parameters)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
      performed,
      remaining,
      ...(repeated !== undefined && { repeated }),
    })),
    false,
  );
}

/** Reads `rate-limited:operation=placeOrder,times=2`. What a fault takes is for the service to judge. */
function addFault(text: string, before: PlannedFault[] | undefined): PlannedFault[] {
  const [, fault = '', rest] = /^([\w-]+)(?::(.*))?$/s.exec(text) ?? [];
  const pairs = rest?.split(',').map((pair) => /^(\w+)=([\w-]+)$/.exec(pair)?.slice(1) ?? []) ?? [];
  if (fault === '' || pairs.some((pair) => pair.length === 0)) {
    throw new InvalidArgumentError(
      'It must look like rate-limited or rate-limited:operation=createPet,times=2.',
    );
  }
  const parameters = pairs.map(([name, value]) => [
    name,
    /^\d+$/.test(value as string) ? Number(value) : value,
  ]);
  return [...(before ?? []), { fault, ...Object.fromEntries(parameters) }];
}

/** Reads a number, such as one of seconds, which is whole and above 0. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || !Number.isSafeInteger(count)) {
    throw new InvalidArgumentError('It must be a whole number above 0.');
  }
  return count;
}
