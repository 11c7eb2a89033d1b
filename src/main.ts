import { Command, CommanderError, type HelpContext } from 'commander';
import { escapeTerminal } from './foundation/terminal-text.ts';
import { setPrivateUmask } from './foundation/umask.ts';
import { version } from './foundation/version.ts';

const usageExitCode = 2;
const failureExitCode = 1;

/** Each command by its name, in the order of the help. A call loads the command that it names, and no other. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./cli/serve.ts')).serveCommand(),
  keys: async () => (await import('./cli/keys.ts')).keysCommand(),
  workspaces: async () => (await import('./cli/workspaces.ts')).workspacesCommand(),
  seed: async () => (await import('./cli/seed.ts')).seedCommand(),
  migrate: async () => (await import('./cli/storage.ts')).migrateCommand(),
  restored: async () => (await import('./cli/storage.ts')).restoredCommand(),
  webhooks: async () => (await import('./cli/webhooks.ts')).webhooksCommand(),
  grade: async () => (await import('./cli/grade.ts')).gradeCommand(),
  'grade-receiver': async () => (await import('./cli/grade-receiver.ts')).gradeReceiverCommand(),
  lab: async () => (await import('./cli/lab.ts')).labCommand(),
  openapi: async () => (await import('./cli/openapi.ts')).openapiCommand(),
};

/** The command line: with the command of this name alone or, if there is none, with all. */
export async function commandLine(name = ''): Promise<Command> {
  const program = new Command('petstore')
    .description('A demo pet store API over HTTP with JSON, and its tools.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', '\nSettings are environment variables. "petstore serve --help" lists them.')
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text)} (see --help)\n`) })
    .configureHelp({ showGlobalOptions: false, minWidthToWrap: 20 });
  const named = Object.hasOwn(commands, name) ? commands[name] : undefined;
  for (const load of named ? [named] : Object.values(commands)) program.addCommand(await load());
  forAll(program, (command) => command.exitOverride().copyInheritedSettings(program));
  if (!named) await addCompletion(program);
  forAll(program, requireCommand);
  return program;
}

/** Adds `completion SHELL`, which prints a script that completes the commands, options and choices of the program. */
async function addCompletion(program: Command): Promise<void> {
  const { default: tab } = await import('@bomb.sh/tab/commander');
  tab(program, { completionCommandName: 'completion' });
  program.commands
    .find((command) => command.name() === 'completion')
    ?.description('Print a script that completes commands and options in your shell.');
}

/** Runs the command line, by default the demonstration. A usage error exits with 2, a failure with 1; each prints one line to standard error. */
export async function main(argv: string[]): Promise<void> {
  setPrivateUmask();
  process.stdout.on('error', endOutput);
  try {
    const [program = '', script = '', ...args] = argv;
    if (args.length === 0) args.push(await demonstrate());
    await (await commandLine(args[0])).parseAsync([program, script, ...args]);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : usageExitCode;
    } else {
      console.error(`petstore: ${escapeTerminal(error instanceof Error ? error.message : String(error))}`);
      process.exitCode = failureExitCode;
    }
  }
}

/** The command to run if none is given. Prints how to find the others. */
async function demonstrate(): Promise<string> {
  const { command } = await import('#distribution');
  console.log(`Starting the demonstration. "${command} --help" lists the commands.`);
  return 'serve';
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

/** Joins Commander's suggestion to the message. Commander writes it on a line of its own. */
const oneLine = (text: string) => escapeTerminal(text.trim().replace(/\n(?=\(Did you mean .*$)/, ' '));

/** Ends the process when its output cannot be written: `head` may close it early, or the disk may be full. */
function endOutput({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') process.exit(0);
  console.error(`petstore: Standard output cannot be written (${code}).`);
  process.exit(failureExitCode);
}
