import { Command, CommanderError } from 'commander';
import { gradeCommand } from './commands/grade.ts';
import { keysCommand } from './commands/keys.ts';
import { labCommand } from './commands/lab.ts';
import { openapiCommand } from './commands/openapi.ts';
import { seedCommand } from './commands/seed.ts';
import { serveCommand } from './commands/serve.ts';
import { webhooksCommand } from './commands/webhooks.ts';
import { workspacesCommand } from './commands/workspaces.ts';
import { printable } from './printable.ts';
import { keepFilesPrivate } from './umask.ts';
import { version } from './version.ts';

const usageExitCode = 2;
const failureExitCode = 1;

/** Runs the command line. A wrong call exits with 2 and a failure with 1, each after one line on standard error. */
export async function main(argv: string[]): Promise<void> {
  keepFilesPrivate();
  process.stdout.on('error', endQuietly);
  const program = new Command('petstore')
    .description('A demonstration pet store over HTTP with JSON, and the tools to run it.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', '\nSettings are environment variables, which "petstore serve --help" lists.')
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text)} (see --help)\n`) })
    .configureHelp({ showGlobalOptions: false });
  for (const command of [
    serveCommand(),
    keysCommand(),
    workspacesCommand(),
    seedCommand(),
    webhooksCommand(),
    gradeCommand(),
    labCommand(),
    openapiCommand(),
  ]) {
    program.addCommand(command);
  }
  forAll(program, (command) => command.exitOverride().copyInheritedSettings(program));
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : usageExitCode;
    } else {
      console.error(`petstore: ${printable(error instanceof Error ? error.message : String(error))}`);
      process.exitCode = failureExitCode;
    }
  }
}

function forAll(command: Command, act: (command: Command) => void): void {
  act(command);
  for (const child of command.commands) forAll(child, act);
}

/** Commander puts what may have been meant on a line of its own. */
const oneLine = (text: string) => printable(text.trim().replace(/\n(?=\(Did you mean .*$)/, ' '));

/** A reader of our output, such as head, may close it early. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}
