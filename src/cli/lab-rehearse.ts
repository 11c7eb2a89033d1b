import { Command, InvalidArgumentError, Option } from 'commander';
import type { Lab, LabTypes } from '../client/index.ts';
import { parseSelector } from '../lab/rehearsals/fault-selector.ts';
import type { PlannedFault } from '../lab/rehearsals/schema.ts';
import { withService } from '../service/start/running-service.ts';
import { readAccess, withServiceOptions } from './find-service.ts';
import { assertFaults } from './lab-faults.ts';
import { helpNote, printLines, printRows, toJson } from './terminal.ts';

const examples = `
Write a fault as its name, with parameters after a colon. "petstore lab faults" lists them:
  petstore lab rehearse rate-limited
  petstore lab rehearse rate-limited:operation=placeOrder,times=2,retryAfterSeconds=2 lost-answer:operation=createPet
Most faults take operation (an operationId), times (how often) and after (how many requests pass before the fault).
Without operation, the fault applies to every operation that it fits, and counts separately for each.`;

export const rehearseCommand = () =>
  withServiceOptions(
    new Command('rehearse')
      .description(
        'Make a running service perform faults for one key. The previous rehearsal of the key ends.',
      )
      .argument('[fault...]', 'faults to perform, such as rate-limited:operation=placeOrder', addFault)
      .option('--expires <seconds>', 'when it expires; by default after 10 minutes', parseCount)
      .addOption(new Option('--show', 'show what was performed so far').conflicts(['end', 'expires']))
      .addOption(new Option('--end', 'end the rehearsal, and show what was performed').conflicts('expires'))
      .option('--json', 'print JSON'),
  )
    .addHelpText('after', helpNote(examples))
    .action(async (faults: PlannedFault[], options, command: Command) => {
      const hasFaults = faults.length > 0;
      if (hasFaults === Boolean(options.show || options.end))
        command.error('error: name the faults to perform, or use --show or --end alone');
      await assertFaults(command, faults);
      const planned = { faults, expiresInSeconds: options.expires } as LabTypes.NewRehearsal;
      const rehearsal = await withService(await readAccess(options), ({ lab }) =>
        hasFaults ? lab.startRehearsal(planned) : lastRehearsal(lab, options.end === true),
      );
      if (options.json) printLines(toJson(rehearsal));
      else show(rehearsal);
    });

/** The newest rehearsal. Ends it first if `isToEnd`. */
async function lastRehearsal(lab: Lab, isToEnd: boolean): Promise<LabTypes.Rehearsal> {
  const [last] = await lab.listRehearsals();
  if (!last) throw new Error('This key has no rehearsal.');
  return isToEnd && isActive(last) ? lab.endRehearsal(last.id) : last;
}

const isActive = ({ endedAt, expiresAt }: LabTypes.Rehearsal) =>
  endedAt === undefined && Date.parse(expiresAt) > Date.now();

function show(rehearsal: LabTypes.Rehearsal): void {
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

/** Parses `rate-limited:operation=placeOrder,times=2`, and adds it to the earlier faults. */
export function addFault(text: string, before: PlannedFault[] = []): PlannedFault[] {
  const fault = parseSelector(text);
  if (!fault)
    throw new InvalidArgumentError(
      'It must look like rate-limited or rate-limited:operation=createPet,times=2.',
    );
  return [...before, fault];
}

/** Parses a whole number above 0. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || !Number.isSafeInteger(count))
    throw new InvalidArgumentError('It must be an integer above 0.');
  return count;
}

/** A parser of whole numbers from 1 to `max`. */
export const countUpTo = (max: number) => (text: string) => {
  const count = parseCount(text);
  if (count > max) throw new InvalidArgumentError(`It must be at most ${max}.`);
  return count;
};
