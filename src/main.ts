import { Command, CommanderError, type HelpContext } from 'commander';
import { addCompletion } from './cli/completion.ts';
import { gradeCommand } from './cli/grade.ts';
import { gradeReceiverCommand } from './cli/grade-receiver.ts';
import { keysCommand } from './cli/keys.ts';
import { labCommand } from './cli/lab.ts';
import { migrateCommand } from './cli/migrate.ts';
import { openapiCommand } from './cli/openapi.ts';
import { restoredCommand } from './cli/restored.ts';
import { seedCommand } from './cli/seed.ts';
import { serveCommand } from './cli/serve.ts';
import { webhooksCommand } from './cli/webhooks.ts';
import { workspacesCommand } from './cli/workspaces.ts';
import { escapeTerminal } from './foundation/escape-terminal.ts';
import { setPrivateUmask } from './foundation/umask.ts';
import { version } from './foundation/version.ts';

const usageExitCode = 2;
const failureExitCode = 1;

/** The command line, with all its commands. */
export function commandLine(): Command {
  const program = new Command('petstore')
    .description('A demonstration pet store over HTTP with JSON, and the tools to run it.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', '\nSettings are environment variables. "petstore serve --help" lists them.')
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text)} (see --help)\n`) })
    .configureHelp({ showGlobalOptions: false });
  for (const command of [
    serveCommand(),
    keysCommand(),
    workspacesCommand(),
    seedCommand(),
    migrateCommand(),
    restoredCommand(),
    webhooksCommand(),
    gradeCommand(),
    gradeReceiverCommand(),
    labCommand(),
    openapiCommand(),
  ]) {
    program.addCommand(command);
  }
  forAll(program, (command) => command.exitOverride().copyInheritedSettings(program));
  addCompletion(program);
  forAll(program, requireCommand);
  return program;
}

/** Runs the command line. A usage error exits with 2, a failure with 1; each prints one line to standard error. */
export async function main(argv: string[]): Promise<void> {
  setPrivateUmask();
  process.stdout.on('error', endOutput);
  try {
    await commandLine().parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : usageExitCode;
    } else {
      console.error(`petstore: ${escapeTerminal(error instanceof Error ? error.message : String(error))}`);
      process.exitCode = failureExitCode;
    }
  }
}

function forAll(command: Command, act: (command: Command) => void): void {
  act(command);
  for (const child of command.commands) forAll(child, act);
}

/** Makes a group without a command a usage error. Commander would print the whole help. */
function requireCommand(group: Command): void {
  const help = group.help as (context?: HelpContext) => never;
  const shown = group.createHelp().visibleCommands(group);
  const names = shown.map((command) => command.name()).join(', ');
  group.help = (context?: unknown): never =>
    (context as HelpContext | undefined)?.error
      ? group.error(`error: a command is missing: ${names}`)
      : help.call(group, context as HelpContext);
}

/** Joins Commander's suggestion, which stands on a line of its own, to the message. */
const oneLine = (text: string) => escapeTerminal(text.trim().replace(/\n(?=\(Did you mean .*$)/, ' '));

/** Ends the process when its output cannot be written: `head` may close it early, or the disk may be full. */
function endOutput({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') process.exit(0);
  console.error(`petstore: Standard output cannot be written (${code}).`);
  process.exit(failureExitCode);
}
