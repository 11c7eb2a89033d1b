import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

/** Adds `completion SHELL`, which prints a script that completes the commands, options and choices of the program. */
export function addCompletion(program: Command): void {
  tab(program, { completionCommandName: 'completion' });
  program.commands
    .find((command) => command.name() === 'completion')
    ?.description('Print a script that completes commands and options in your shell.');
}
