import { Command } from 'commander';
import { accountCommand } from './lab-account.ts';
import { faultsCommand } from './lab-faults.ts';
import { recordCommand } from './lab-record.ts';
import { rehearseCommand } from './lab-rehearse.ts';

/** The lab of a running service: hard cases on demand, and what a client makes of them. */
export const labCommand = () =>
  new Command('lab')
    .description('Rehearse hard cases with a client of yours, record it, and read its report card.')
    .addCommand(faultsCommand())
    .addCommand(rehearseCommand())
    .addCommand(recordCommand())
    .addCommand(accountCommand());
