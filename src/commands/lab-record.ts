import { Command, Option } from 'commander';
import type { Recording } from '../lab/recordings/schema.ts';
import type { Rehearsal } from '../lab/rehearsals/schema.ts';
import { type Client, LabService } from '../lab-service.ts';
import { printable } from '../printable.ts';
import { withoutSecrets } from '../redact.ts';
import { readClient, withClientOptions } from './client.ts';
import { faultsMet, faultsTable, isUnrehearsed, missedFaults } from './lab-rehearsed.ts';
import { checksText, type RecordedRequest, type Report, shownIds, verdictText } from './lab-report.ts';
import { runClient, untilTold } from './lab-run.ts';
import { printLines, toJson, writeUsersFile } from './output.ts';

const failedStatus = 1;
const incompleteStatus = 3;

const more = `
COMMAND gets PETSTORE_BASE_URL and PETSTORE_API_KEY. Without a command, what the key does is recorded until Ctrl-C:
  petstore lab record -- node my-client.mjs
If a rehearsal is active, its faults are listed with the card. The verdict is incomplete if the client met none of them.
The exit status is ${failedStatus} if the verdict is failed, ${incompleteStatus} if it is incomplete, and else that of the command.`;

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
      const started = await service.json<Recording>('POST', '/recordings', { ...(name && { name }) });
      const path = `/recordings/${started.id}`;
      const before = await rehearsalsOf(service);
      const status = await untilEnd(command, client, started.id, options.json || options.markdown).finally(
        () => end(service, path),
      );
      const faults = faultsMet(before, await rehearsalsOf(service), Date.parse(started.createdAt));
      const report = judged(await service.json<Report>('GET', `${path}/report`), isUnrehearsed(faults));
      if (options.junit) writeUsersFile(options.junit, await service.text('GET', `${path}/report/junit`));
      const missed = missedFaults(faults);
      if (options.markdown || options.json) {
        if (missed) note(missed);
        printLines(
          options.json
            ? toJson({ ...report, faults })
            : (await service.text('GET', `${path}/report/markdown`)).trimEnd(),
        );
      } else {
        const parts = [
          checksText(report, await requestsOf(service, path, shownIds(report))),
          ...(faults.length > 0 ? [faultsTable(faults)] : []),
          [...(missed ? [missed] : []), verdictText(report.verdict)].join('\n'),
          `Recording ${started.id}. With your key, read all requests there, or …/har for the tools of browsers:\n  ${service.urlOf(path)}/requests`,
        ];
        console.log(`\n${parts.filter((part) => part !== '').join('\n\n')}`);
      }
      process.exitCode = statuses[report.verdict] ?? status;
    });

const statuses: Record<string, number> = { failed: failedStatus, incomplete: incompleteStatus };

/** What a client passed without the faults that it was to meet proves nothing about them. */
const judged = (report: Report, isUnrehearsed: boolean): Report =>
  isUnrehearsed && report.verdict === 'passed' ? { ...report, verdict: 'incomplete' } : report;

const rehearsalsOf = (service: LabService) => service.json<Rehearsal[]>('GET', '/rehearsals');

/** Runs the command, or waits for Ctrl-C if there is none. Returns the exit status. */
async function untilEnd(command: string[], client: Client, id: string, isData: boolean): Promise<number> {
  if (command.length === 0) {
    // Whoever has read the note may tell it to end at once.
    const told = untilTold();
    note(`Recording ${id}: all that the key does at ${client.baseUrl}. Ctrl-C ends it.`);
    await told;
    return 0;
  }
  const status = await runClient(command, client, isData);
  note(`${command[0]} ended with ${status}.`);
  return status;
}

/** Ends a recording. Warns if it had ended by itself, so that the last requests are missing. */
async function end(service: LabService, path: string): Promise<void> {
  const { endedAt: earlier } = await service.json<Recording>('GET', path);
  const { endedAt, expiresAt } = await service.json<Recording>('POST', `${path}/end`);
  const why = earlier ? 'another recording of the key began' : endedAt ? undefined : 'its time was over';
  if (why) note(`The recording ended before the client did, at ${earlier ?? expiresAt}: ${why}.`);
}

/** The requests of a recording that have one of these ids. */
async function requestsOf(
  service: LabService,
  path: string,
  ids: readonly string[],
): Promise<Map<string, RecordedRequest>> {
  const found = new Map<string, RecordedRequest>();
  if (ids.length === 0) return found;
  for await (const page of service.pages<RecordedRequest>(`${path}/requests`)) {
    for (const request of page) if (ids.includes(request.id)) found.set(request.id, request);
    if (ids.every((id) => found.has(id))) break;
  }
  return found;
}

/** Notes go to standard error, so that standard output holds the report alone. */
const note = (text: string) => console.error(printable(text));
