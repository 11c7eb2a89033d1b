import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { isatty } from 'node:tty';
import { Command, Option } from 'commander';
import type { Lab, LabTypes } from '../client/index.ts';
import { withoutSecrets } from '../foundation/redact.ts';
import { clientKeyVariable, settings } from '../foundation/settings/config.ts';
import { spawnUserProgram } from '../foundation/spawn-user-program.ts';
import { labUrlOfService, type ServiceAccess, withService } from '../service/start/running-service.ts';
import { readAccess, withServiceOptions } from './find-service.ts';
import {
  checksText,
  countFaults,
  faultsTable,
  noFaultPerformed,
  requestCells,
  shownIds,
  unperformedFaults,
  verdictText,
} from './lab-report.ts';
import { endSignals, helpNote, note, printLines, statusOf, toJson, writeUserFile } from './terminal.ts';

/** The exit status for a verdict. Otherwise it is that of the client. */
const statuses: Readonly<Record<string, number>> = { failed: 1, incomplete: 3 };

const more = `
COMMAND gets PETSTORE_BASE_URL and PETSTORE_API_KEY:
  petstore lab record -- node my-client.mjs
Without COMMAND, all requests of the key are recorded until Ctrl-C.
If a rehearsal is active, its faults are listed with the card. The verdict is incomplete if none of them was performed.
The exit status is ${statuses.failed} if the verdict is failed, ${statuses.incomplete} if it is incomplete, and otherwise that of COMMAND.`;

export const recordCommand = () =>
  withServiceOptions(
    new Command('record')
      .description('Record what a client does, and print its report card.')
      .argument('[command...]', 'the client and its arguments, after --')
      .usage('[options] [-- COMMAND...]')
      .option('--name <name>', 'name of the recording')
      .option('--json', 'print the report as JSON; the output of COMMAND goes to standard error')
      .addOption(
        new Option(
          '--markdown',
          'print the report as Markdown; the output of COMMAND goes to standard error',
        ).conflicts('json'),
      )
      .option('--junit <file>', 'also write the report as JUnit'),
  )
    .addHelpText('after', helpNote(more))
    .action(async (command: string[], options) => {
      const access = await readAccess(options);
      await withService(access, async ({ lab }) => {
        const name = options.name ?? (withoutSecrets(command.join(' ')).slice(0, 100) || undefined);
        const { id, createdAt } = await lab.startRecording({ ...(name && { name }) });
        const before = await lab.listRehearsals();
        const isData = options.json || options.markdown;
        const status = await untilEnd(command, access, id, isData).finally(() => end(lab, id));
        const faults = countFaults(before, await lab.listRehearsals(), Date.parse(createdAt));
        const report = judged(await lab.getReport(id), noFaultPerformed(faults));
        if (options.junit) writeUserFile(options.junit, await lab.getReportAsJunit(id));
        const missed = unperformedFaults(faults);
        if (isData) {
          if (missed) note(missed);
          printLines(
            options.json ? toJson({ ...report, faults }) : (await lab.getReportAsMarkdown(id)).trimEnd(),
          );
        } else {
          const requests = await requestsOf(lab, id, shownIds(report.checks));
          const parts = [
            checksText(report.checks, (shown) => requests.get(shown)),
            ...(faults.length > 0 ? [faultsTable(faults)] : []),
            [...(missed ? [missed] : []), verdictText(report.verdict)].join('\n'),
            `Recording ${id}. GET this URL with your key to read all its requests. With /har instead of /requests you get a HAR file for the developer tools of your browser:\n  ${labUrlOfService(access)}/recordings/${id}/requests`,
          ];
          console.log(`\n${parts.filter((part) => part !== '').join('\n\n')}`);
        }
        process.exitCode = statuses[report.verdict] ?? status;
      });
    });

/** If no fault was performed, a passed report proves nothing about the faults, so it is incomplete. */
const judged = (report: LabTypes.Report, noFaultPerformed: boolean): LabTypes.Report =>
  noFaultPerformed && report.verdict === 'passed' ? { ...report, verdict: 'incomplete' } : report;

/** Runs the command, or waits for Ctrl-C if there is none. Returns the exit status. */
async function untilEnd(command: string[], access: ServiceAccess, id: string, isData: boolean) {
  if (command.length === 0) {
    // Listens before the note is shown, since the user may end the recording at once.
    const ended = untilSignal();
    note(`Recording ${id}: all requests of the key at ${access.baseUrl}. Ctrl-C ends it.`);
    await ended;
    return 0;
  }
  const status = await runClient(command, access, isData);
  note(`${command[0]} ended with ${status}.`);
  return status;
}

/** Ends a recording. Warns if it has already ended, because then the last requests are missing. */
async function end(lab: Lab, id: string): Promise<void> {
  const { endedAt: earlier } = await lab.getRecording(id);
  const { endedAt, expiresAt } = await lab.endRecording(id);
  const why = earlier ? 'another recording of the key started' : endedAt ? undefined : 'it expired';
  if (why) note(`The recording ended before the client did, at ${earlier ?? expiresAt}: ${why}.`);
}

/** The requests of a recording with these ids, as cells. */
async function requestsOf(lab: Lab, recordingId: string, ids: readonly string[]) {
  const found = new Map<string, string[]>();
  if (ids.length === 0) return found;
  for await (const request of lab.listRecordedRequests(recordingId)) {
    if (ids.includes(request.id)) found.set(request.id, requestCells(request));
    if (found.size === new Set(ids).size) break;
  }
  return found;
}

/**
 * Runs a client with the address and the key in its environment, and returns its exit status. Passes termination signals on to the client,
 * so that the report is still printed. With `isData` the output of the client goes to standard error.
 */
async function runClient(command: string[], access: ServiceAccess, isData: boolean): Promise<number> {
  const { baseUrl, key } = access;
  const env = { ...process.env, [settings.baseUrl.variable]: baseUrl, [clientKeyVariable]: key };
  const child = spawnUserProgram(command, { env, stdio: ['inherit', isData ? 2 : 'inherit', 'inherit'] });
  for (const signal of endSignals) process.on(signal, () => passOn(signal, child));
  try {
    const [code, signal] = await once(child, 'exit');
    return code ?? statusOf(signal as NodeJS.Signals);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${command[0]} does not start (${code}).`, { cause: error });
  }
}

/** Does not pass on Ctrl-C from a terminal: the client already has it, and many programs end at once on a second one. */
function passOn(signal: NodeJS.Signals, child: ChildProcess): void {
  const hasIt = signal === 'SIGINT' && [0, 1, 2].some((fd) => isatty(fd));
  if (!hasIt) child.kill(signal);
}

/** Waits for a termination signal. Keeps the listeners, because the parent process may send the signal a second time. */
async function untilSignal(): Promise<void> {
  // A promise alone does not keep the process running.
  const timer = setInterval(() => {}, 60_000);
  await new Promise((resolve) => {
    for (const signal of endSignals) process.on(signal, resolve);
  });
  clearInterval(timer);
}
