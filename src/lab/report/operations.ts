import type { Sql } from '../../db/sql.ts';
import { operation, resource, text } from '../../operation.ts';
import type { Owner } from '../bound.ts';
import { burstRequest, isOwn, ownRequest } from '../own-requests.ts';
import { readRecorded } from '../recordings/reading.ts';
import { recordingId } from '../recordings/schema.ts';
import { type LabServices, whenRecorded } from '../services.ts';
import { checks, checksVersion } from './checks/all.ts';
import { asJunit } from './junit.ts';
import { asMarkdown } from './markdown.ts';
import { type Report as ReportCard, reportOn } from './report.ts';
import { CheckList, Report } from './schema.ts';

type Asked = Owner & { params: { recordingId: string } };

/** The report card of a recording, which comes in several forms. */
function report(sql: Sql, input: Asked, { readings, links }: LabServices): Promise<ReportCard> {
  const { recordingId } = input.params;
  return readings.share(input, `report ${recordingId}`, async () => {
    const recorded = await readRecorded(sql, input, recordingId, links);
    return reportOn(
      recordingId,
      recorded.filter((request) => !isOwn(request)),
    );
  });
}

const shared = { method: 'GET', tag: 'Recordings' } as const;

/** A small report card, for the examples of its other forms. */
const sample: ReportCard = {
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
      'Returns every check of a report card: what it asks of a client, how it is judged, and what to do.',
    success: resource(CheckList, 'All checks, and their version.'),
    handle: async () => ({
      version: checksVersion,
      checks: checks.map(({ judge: _, faults, ...check }) => ({ ...check, faults: [...faults] })),
    }),
  }),

  operation({
    ...shared,
    path: '/recordings/{recordingId}/report',
    id: 'getReport',
    summary: 'Get a report card',
    description: `Judges what a recording has kept until now: each check with its result, the requests that show it, and what to do. Read it when the client has ended: one that still waits looks like one that has given up. Requests that the page of the lab sent itself are left out: their \`X-Request-Id\` begins with \`${ownRequest}\`, and not with \`${burstRequest}\`.`,
    params: { recordingId },
    success: resource(Report, 'The report card.'),
    prepare: whenRecorded,
    handle: report,
  }),

  operation({
    ...shared,
    path: '/recordings/{recordingId}/report/markdown',
    id: 'getReportAsMarkdown',
    summary: 'Get a report card as Markdown',
    description:
      'Returns the report card as a text for people: the failures first, then a table of all checks.',
    params: { recordingId },
    success: text('text/markdown; charset=utf-8', 'The report card as Markdown.', asMarkdown(sample)),
    prepare: whenRecorded,
    handle: async (sql, input, lab: LabServices) => asMarkdown(await report(sql, input, lab)),
  }),

  operation({
    ...shared,
    path: '/recordings/{recordingId}/report/junit',
    id: 'getReportAsJunit',
    summary: 'Get a report card as JUnit XML',
    description:
      'Returns the report card as JUnit XML, which CI systems read. It has a failure exactly if the verdict is `failed`: recommended checks that failed are skipped with their reason, as is what was not observed.',
    params: { recordingId },
    success: text('application/xml; charset=utf-8', 'The report card as JUnit XML.', asJunit(sample)),
    prepare: whenRecorded,
    handle: async (sql, input, lab: LabServices) => asJunit(await report(sql, input, lab)),
  }),
];
