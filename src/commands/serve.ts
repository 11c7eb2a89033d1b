import { Command, type Help, Option } from 'commander';
import { banSettings, settings, shownDefault } from '../config.ts';
import { planNames } from '../limits/plans.ts';
import type { Setting } from '../setting.ts';

const helpWidth = 80;

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the service until it gets SIGTERM, SIGINT or SIGHUP.')
    .option(
      '--json',
      'print one line of JSON once it is ready: baseUrl, referenceUrl, host, port, pid, key (of the demonstration), dataDir, version; the log goes to standard error',
    )
    .addOption(new Option('--port <n>', 'port to listen on, before PORT; 0 picks a free one'))
    .option(
      '--ephemeral',
      'keep nothing: all is in memory, and no folder is made or read. Ends with its standard input if that is a pipe, and with --json obeys lines of JSON there (docs/from-code.md)',
    )
    .addOption(
      new Option(
        '--plan <plan>',
        'plan of the key of --ephemeral; without it no test meets its limits',
      ).choices(planNames.filter((plan) => plan !== 'enterprise')),
    )
    .addHelpText('after', ({ command }) => environmentHelp(command.createHelp()))
    .action(async ({ json, port, ephemeral, plan }, command: Command) => {
      if (plan && !ephemeral) command.error('error: --plan is for --ephemeral');
      const env = { ...process.env, ...(port !== undefined && { PORT: port }) };
      const { serve } = await import('../serve.ts');
      await serve(env, {
        tellsPrograms: json === true,
        ephemeral: ephemeral ? { ...(plan && { plan }) } : undefined,
      });
    });
}

function environmentHelp(help: Help): string {
  help.prepareContext({ helpWidth });
  const list = (group: Record<string, Setting<unknown>>) => {
    const all = Object.values(group);
    const width = Math.max(...all.map(({ variable }) => variable.length));
    return all.map((setting) => help.formatItem(setting.variable, width, explain(setting), help));
  };
  return [
    '\nEnvironment, with defaults in parentheses:',
    ...list(settings),
    '\nBans of keys that keep sending after 429:',
    ...list(banSettings),
  ].join('\n');
}

const explain = (setting: Setting<unknown>) =>
  `${setting.meaning.replaceAll('`', '')} (${shownDefault(setting)})`;
