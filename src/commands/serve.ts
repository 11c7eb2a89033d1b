import { Command, type Help } from 'commander';
import { banSettings, readConfig, settings, shownDefault } from '../config.ts';
import type { Setting } from '../setting.ts';

const helpWidth = 80;

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the service until it gets SIGTERM, SIGINT or SIGHUP.')
    .option(
      '--json',
      'print one line of JSON once it is ready: baseUrl, referenceUrl, host, port, pid, key (of the demonstration), dataDir, version; the log goes to standard error',
    )
    .addHelpText('after', ({ command }) => environmentHelp(command.createHelp()))
    .action(async (options) => {
      const config = readConfig(process.env);
      const { serve } = await import('../serve.ts');
      await serve(config, { tellsPrograms: options.json === true });
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
