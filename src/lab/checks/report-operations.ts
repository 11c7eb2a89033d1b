import { operation } from '../../http/operation.ts';
import { resource, text } from '../../http/responses.ts';
import {
  type Reader,
  type RecordingServices,
  reportJobsBounded,
  whenRecorded,
} from '../recordings/operations.ts';
import { recordingId } from '../recordings/schema.ts';
import { checks, checksVersion } from './list.ts';
import { asJunit } from './report-as-junit.ts';
import { asMarkdown } from './report-as-markdown.ts';
import { CheckList, Report } from './report-schema.ts';

/** What these operations need from the instance that runs them. */
export interface ReportServices extends Pick<RecordingServices, 'waitUntilRecorded'> {
  reportJobs: { report(reader: Reader, recordingId: string): Promise<Report> };
}

type Asked = Reader & { params: { recordingId: string } };

const report = (_sql: unknown, input: Asked, { reportJobs }: ReportServices): Promise<Report> =>
  reportJobs.report(input, input.params.recordingId);

const shared = { method: 'GET', tag: 'Recordings' } as const;
const ofReport = { ...shared, params: { recordingId }, prepare: whenRecorded };

/** For the examples of Markdown and JUnit XML. */
const sample: Report = {
  recording: 'rec_602845719936',
  version: checksVersion,
  verdict: 'incomplete',
  checks: [],
};

export const reportOperations = [
  operation({
    ...shared,
    path: '/checks',
    id: 'listChecks',
    summary: 'List checks',
    description:
      'Returns every check of a report card: what it requires of a client, how it is judged, and how to fix a failure.',
    success: resource(CheckList, 'All checks, and their version.'),
    handle: async () => ({
      version: checksVersion,
      checks: checks.map(({ judge: _, needs: _needs, isAdvice: _advice, faults, ...check }) => ({
        ...check,
        faults: [...faults],
      })),
    }),
  }),

  operation({
    ...ofReport,
    path: '/recordings/{recordingId}/report',
    id: 'getReport',
    summary: 'Get a report card',
    description: `Judges the requests recorded so far: each check with its result, the requests that show it, and how to fix a failure. Read it after the client has ended: a client that is still waiting counts as one that gave up. Requests that the lab page sends for itself are not judged: they have \`labPage\`. Those of its demos are judged. The report is stored until the recording changes. ${reportJobsBounded}`,
    success: resource(Report, 'The report card.'),
    handle: report,
  }),

  operation({
    ...ofReport,
    path: '/recordings/{recordingId}/report/markdown',
    id: 'getReportAsMarkdown',
    summary: 'Get a report card as Markdown',
    description: `Returns the report card for people: failures first, then a table of all checks. ${reportJobsBounded}`,
    success: text('text/markdown; charset=utf-8', 'The report card as Markdown.', asMarkdown(sample)),
    handle: async (sql, input, lab: ReportServices) => asMarkdown(await report(sql, input, lab)),
  }),

  operation({
    ...ofReport,
    path: '/recordings/{recordingId}/report/junit',
    id: 'getReportAsJunit',
    summary: 'Get a report card as JUnit XML',
    description: `Returns the report card as JUnit XML for CI systems. It has failures only if the verdict is \`failed\`. Skipped tests, with their reason, are recommended checks that failed and checks that were not observed. ${reportJobsBounded}`,
    success: text('application/xml; charset=utf-8', 'The report card as JUnit XML.', asJunit(sample)),
    handle: async (sql, input, lab: ReportServices) => asJunit(await report(sql, input, lab)),
  }),
];
