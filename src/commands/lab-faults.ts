import { Command } from 'commander';
import { toColumns, toJson } from './output.ts';

export const faultsCommand = () =>
  new Command('faults')
    .description('List the faults that can be rehearsed: their parameters, and what the service does.')
    .option('--json', 'print all that is known of them as JSON')
    .action(async (options) => {
      const { toCatalogue } = await import('../lab/rehearsals/catalogue.ts');
      const { operations } = await import('../operations.ts');
      const catalogue = toCatalogue(operations);
      const rows = catalogue.map(({ name, parameters, does }) => [
        name,
        parameters.map((parameter) => `${parameter.name}=${parameter.default}`).join(' '),
        does,
      ]);
      console.log(
        options.json
          ? toJson(catalogue)
          : toColumns([['FAULT', 'PARAMETERS', 'WHAT THE SERVICE DOES'], ...rows]),
      );
    });
