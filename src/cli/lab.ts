import { Command } from 'commander';
import { toColumns } from '../foundation/terminal-text.ts';
import { withService } from '../service/start/running-service.ts';
import { readAccess, withServiceOptions } from './find-service.ts';
import { faultsCommand } from './lab-faults.ts';
import { recordCommand } from './lab-record.ts';
import { rehearseCommand } from './lab-rehearse.ts';
import { isoTime, printLines, toJson } from './terminal.ts';

export const labCommand = () =>
  new Command('lab')
    .description('Make the service fail on purpose, record what your client does, and read its report card.')
    .addCommand(faultsCommand())
    .addCommand(rehearseCommand())
    .addCommand(recordCommand())
    .addCommand(accountCommand());

const accountCommand = () =>
  withServiceOptions(
    new Command('account')
      .description(
        'Show the limits, strikes, ban, rehearsal and recording of a key, and the request that started the ban. This does not count against the limits.',
      )
      .option('--json', 'print JSON'),
  ).action(async (options) => {
    const account = await withService(await readAccess(options), ({ lab }) => lab.getAccount());
    printLines(options.json ? toJson(account) : toColumns(flattened(account)));
  });

/** The fields of an object as rows. Nested fields are named by their path, such as `minute.reset`. */
const flattened = (object: object, path = ''): string[][] =>
  Object.entries(object).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null
      ? flattened(value, `${path}${name}.`)
      : [[`${path}${name}`, textOf(name, value)]],
  );

/** `reset` is in seconds since 1970, as in `X-RateLimit-Reset`. */
const textOf = (name: string, value: unknown) =>
  name === 'reset' ? isoTime(Number(value) * 1_000) : String(value);
