import { Command, InvalidArgumentError, Option } from 'commander';
import { eventTypes } from '../client/operations.ts';
import { escapeTerminal } from '../foundation/terminal-text.ts';
import type { TrialDelivery } from '../grade/receiver/deliver.ts';
import type { ReceiverGrade } from '../grade/receiver/grade-receiver.ts';
import { gradedTypes, trialEvents } from '../grade/receiver/messages.ts';
import { maxLifeSeconds } from '../lab/lab-bounds.ts';
import { parseUrl } from './find-service.ts';
import { countUpTo } from './lab-rehearse.ts';
import { checksText, verdictText } from './lab-report.ts';
import { helpNote, statusOf, toJson, watchSignals, writeUserFile } from './terminal.ts';
import { parseSecret } from './webhooks.ts';

const failedStatus = 1;

const more = `
Start your receiver first. It must use the secret in WEBHOOK_SECRET or --secret.
Then this command posts events to URL, as a webhook of the store does: once,
twice, out of order, forged, too old, slowly in pieces. After each event it runs
the command of --state, and compares the output. The output must change only if
the state of the receiver changes, so leave out times and counts of requests.
The events are about pets, or about other things if --types has no event of new
pets. The receiver cannot read them from a store. Types that --types leaves out
must get 2xx, but may have no effect.
--reset runs first, and again for five equal messages that are sent at the same
time, three times. It must also forget the ids of messages, and may restart the
receiver in the background. Processes that --state leaves behind are ended.

The exit status is ${failedStatus} if a required check failed, and otherwise 0.

Examples:
  export WEBHOOK_SECRET=whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2Vv5d7OnLyM=
  petstore grade-receiver http://localhost:3000/hooks --state 'curl -s localhost:3000/pets'
  petstore grade-receiver http://localhost:3000 --state 'psql -Atc "table pets"' \\
    --reset 'psql -qc "truncate pets, handled"' --junit receiver.xml`;

interface Options {
  state: string;
  reset?: string;
  types?: string[];
  commandSeconds?: number;
  secret: string;
  json?: true;
  junit?: string;
}

export const gradeReceiverCommand = () =>
  new Command('grade-receiver')
    .description('Send difficult cases to a webhook receiver, and print its report card.')
    .argument('<url>', 'URL of the receiver, such as http://localhost:3000/hooks', parseUrl)
    .requiredOption('--state <command>', 'command that prints the state of the receiver; a shell runs it')
    .option('--reset <command>', 'command that clears the state of the receiver; a shell runs it')
    .option(
      '--types <types>',
      'event types that the receiver handles, separated by commas; all by default',
      parseTypes,
    )
    .option(
      '--command-seconds <seconds>',
      'timeout of the commands of --state and --reset; 60 by default',
      countUpTo(maxLifeSeconds),
    )
    .addOption(
      new Option('--secret <secret>', 'the secret that the receiver verifies with')
        .env('WEBHOOK_SECRET')
        .argParser(parseSecret)
        .makeOptionMandatory(),
    )
    .option('--json', 'print the card as JSON')
    .option('--junit <file>', 'also write the card as JUnit')
    .addHelpText('after', helpNote(more))
    .action(gradeAndPrint);

function parseTypes(text: string): string[] {
  const types = text.split(',').map((type) => type.trim());
  const unknown = types.find((type) => !(eventTypes as readonly string[]).includes(type));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`There is no type "${unknown}". The types are ${eventTypes.join(', ')}.`);
  if (!gradedTypes.some((type) => types.includes(type)))
    throw new InvalidArgumentError(`Name at least one of ${gradedTypes.join(', ')}.`);
  return types;
}

async function gradeAndPrint(url: URL, options: Options): Promise<void> {
  const { gradeReceiver } = await import('../grade/receiver/grade-receiver.ts');
  const { openGradingService } = await import('../grade/grading-service.ts');
  const { outputOf } = await import('../grade/run/command.ts');
  const { signal, received } = watchSignals();
  const { state, reset, commandSeconds } = options;
  const limits = { signal, limitMs: commandSeconds && 1_000 * commandSeconds };
  const store = await openGradingService({}, signal);
  try {
    const grade = await gradeReceiver({
      ...{ url, signal, types: options.types, secret: options.secret },
      events: await trialEvents(store, signal),
      readState: () => outputOf(state, limits),
      reset: reset === undefined ? undefined : () => outputOf(reset, { ...limits, keepsProcesses: true }),
      onDelivery: (delivery) => console.error(escapeTerminal(cellsOf(delivery).join('  '))),
    });
    console.log(options.json ? toJson(grade) : toText(grade));
    if (options.junit !== undefined) {
      const { asJunit } = await import('../lab/checks/report-as-junit.ts');
      writeUserFile(options.junit, asJunit({ recording: grade.receiver, version: 1, ...grade }));
    }
    process.exitCode = grade.verdict === 'failed' ? failedStatus : 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = statusOf(received() as NodeJS.Signals);
  } finally {
    await store.close();
  }
}

const cellsOf = ({ number, what, status, tookMs, error }: TrialDelivery) => [
  String(number).padStart(2),
  String(status ?? '—'),
  `${tookMs} ms`,
  `${what}${error === undefined ? '' : ` (${error})`}`,
];

const toText = ({ checks, deliveries, verdict }: ReceiverGrade) => {
  const rows = new Map(deliveries.map((delivery) => [String(delivery.number), cellsOf(delivery)]));
  return `${checksText(checks, (id) => rows.get(id), 'Message')}\n\n${verdictText(verdict)}`;
};
