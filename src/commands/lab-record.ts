import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { Command, Option } from 'commander';
import { clientKeyVariable, settings } from '../config.ts';
import { printable } from '../printable.ts';
import { withoutSecrets } from '../redact.ts';
import { type Client, readClient, withClientOptions } from './client.ts';
import { type Report, reportText } from './lab-report.ts';
import { LabService } from './lab-service.ts';
import { printLines, toJson } from './output.ts';

const more = `
COMMAND gets PETSTORE_BASE_URL and PETSTORE_API_KEY. Without a command, what the key does is recorded until Ctrl-C:
  petstore lab record -- node my-client.mjs
The exit status is 1 if the verdict is failed, and else that of the command.`;

export const recordCommand = () =>
  withClientOptions(
    new Command('record')
      .description('Record what a client does, and print its report card.')
      .argument('[command...]', 'the client and its arguments, after --')
      .usage('[options] [-- COMMAND...]')
      .option('--name <name>', 'name of the recording')
      .option('--json', 'print the report as JSON; the command then writes to standard error alone')
      .addOption(new Option('--markdown', 'the same as Markdown').conflicts('json'))
      .option('--junit <file>', 'write the report as JUnit, too'),
  )
    .addHelpText('after', more)
    .action(async (command: string[], options) => {
      const client = readClient(options);
      const service = new LabService(client);
      const name = options.name ?? (withoutSecrets(command.join(' ')).slice(0, 100) || undefined);
      const { id } = await service.json<{ id: string }>('POST', '/recordings', { ...(name && { name }) });
      const path = `/recordings/${id}`;
      const isData = options.json || options.markdown;
      const status = await untilEnd(command, client, id, isData).finally(() =>
        service.json('POST', `${path}/end`),
      );
      const report = await service.json<Report>('GET', `${path}/report`);
      if (options.junit) writeFileSync(options.junit, await service.text('GET', `${path}/report/junit`));
      if (options.markdown) printLines((await service.text('GET', `${path}/report/markdown`)).trimEnd());
      else if (options.json) printLines(toJson(report));
      else console.log(`\n${reportText(report)}`);
      process.exitCode = report.verdict === 'failed' ? 1 : status;
    });

/** Runs the command, or waits for Ctrl-C if there is none. Returns the exit status. */
async function untilEnd(command: string[], client: Client, id: string, isData: boolean): Promise<number> {
  // Ctrl-C is for the client; what it did is told afterwards. An older Node.js that handed over passes the signal on once more.
  const interrupted = new Promise((resolve) => process.on('SIGINT', resolve));
  if (command.length === 0) {
    note(`Recording ${id}: all that the key does at ${client.baseUrl}. Ctrl-C ends it.`);
    // A promise alone would not keep the process.
    const timer = setInterval(() => {}, 60_000);
    await interrupted;
    clearInterval(timer);
    return 0;
  }
  const status = await statusOf(start(command, client, isData), command[0] as string);
  note(`${command[0]} ended with ${status}.`);
  return status;
}

function start([program, ...args]: string[], { baseUrl, key }: Client, isData: boolean): ChildProcess {
  const env = { ...process.env, [settings.baseUrl.variable]: baseUrl, [clientKeyVariable]: key };
  return spawn(program as string, args, { env, stdio: ['inherit', isData ? 2 : 'inherit', 'inherit'] });
}

async function statusOf(child: ChildProcess, program: string): Promise<number> {
  try {
    const [code, signal] = await once(child, 'exit');
    return code ?? 128 + constants.signals[signal as NodeJS.Signals];
  } catch (error) {
    throw new Error(`${program} does not start (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    });
  }
}

/** Notes go to standard error, so that standard output holds the report alone. */
const note = (text: string) => console.error(printable(text));
