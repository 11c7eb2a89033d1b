import { Command } from 'commander';
import { toColumns } from '../columns.ts';
import { LabService } from '../lab-service.ts';
import { readClient, withClientOptions } from './client.ts';
import { isoTime, printLines, toJson } from './output.ts';

export const accountCommand = () =>
  withClientOptions(
    new Command('account')
      .description(
        'Show how a key stands: its limits, strikes, ban and the request that began it, rehearsal and recording. It costs no request.',
      )
      .option('--json', 'print JSON'),
  ).action(async (options) => {
    const account = await new LabService(readClient(options)).json<object>('GET', '/account');
    printLines(options.json ? toJson(account) : toColumns(flattened(account)));
  });

/** The fields of an object as rows, those of objects within it by their path. */
const flattened = (object: object, path = ''): string[][] =>
  Object.entries(object).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null
      ? flattened(value, `${path}${name}.`)
      : [[`${path}${name}`, textOf(name, value)]],
  );

/** A window of limits ends at a time in seconds since 1970, as in the header fields. */
const textOf = (name: string, value: unknown) =>
  name === 'reset' ? isoTime(Number(value) * 1_000) : String(value);
