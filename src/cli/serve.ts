import { Command, type Help, Option } from 'commander';
import { settings, shownDefault } from '../foundation/settings/config.ts';
import { planNames } from '../foundation/settings/plans.ts';
import type { Setting } from '../foundation/settings/setting.ts';
import { helpWidth } from './terminal.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the service until it gets SIGTERM, SIGINT or SIGHUP.')
    .option(
      '--json',
      'print one line of JSON when it is ready: baseUrl, referenceUrl, host, port, pid, key (the demo key), dataDir, version; the log goes to standard error',
    )
    .addOption(new Option('--port <n>', 'port to listen on, instead of PORT; 0 picks a free one'))
    .option(
      '--ephemeral',
      'keep everything in memory, without a data folder. If standard input is a pipe, the service ends when the pipe closes. With --json it also reads commands from the pipe, one JSON line each (docs/from-code.md)',
    )
    .addOption(
      new Option(
        '--plan <plan>',
        'plan of the key that --ephemeral creates; by default its limits are too high to reach',
      ).choices(planNames.filter((plan) => plan !== 'enterprise')),
    )
    .addHelpText('after', ({ command }) => environmentHelp(command.createHelp(), helpWidth(command)))
    .action(async ({ json, port, ephemeral, plan }, command: Command) => {
      if (plan && !ephemeral) command.error('error: --plan needs --ephemeral');
      const env = { ...process.env, ...(port !== undefined && { PORT: port }) };
      const { serve } = await import('../service/start/serve.ts');
      await serve(env, {
        isForPrograms: json === true,
        ephemeral: ephemeral ? { ...(plan && { plan }) } : undefined,
      });
    });
}

function environmentHelp(help: Help, helpWidth: number): string {
  help.prepareContext({ helpWidth });
  const all = Object.values(settings);
  const width = Math.max(...all.map(({ variable }) => variable.length));
  const lines = all.map((setting) => help.formatItem(setting.variable, width, explain(setting), help));
  return ['\nEnvironment, with defaults in parentheses:', ...lines].join('\n');
}

const explain = (setting: Setting<unknown>) =>
  `${setting.meaning.replaceAll('`', '')} (${shownDefault(setting)})`;
