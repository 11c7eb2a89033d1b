import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxBodyBytes, maxHeaderBytes, maxValues } from '../../src/foundation/bounds.ts';
import { toApiError } from '../../src/foundation/errors.ts';
import { keptBoundsOf, plans } from '../../src/foundation/settings/plans.ts';
import { grouped, kibibytes } from '../../src/foundation/words.ts';
import { maxUnreadBytes } from '../../src/http/fair-share.ts';
import type { KeptBounds } from '../../src/http/idempotency.ts';
import { maxLimit, maxPageBytes } from '../../src/http/pagination.ts';
import {
  archiveBounds,
  labKeptBounds,
  labQuota,
  maxFaults,
  maxKept,
  maxRecordedBody,
  maxRecordedHead,
  maxResetRows,
  maxResetsPerDay,
  maxWaitingReportJobs,
  recorderBounds,
} from '../../src/lab/lab-bounds.ts';
import { labOperations } from '../../src/lab/petstore/petstore-api.ts';
import { workerBounds } from '../../src/lab/report-jobs/report-jobs.ts';
import { textOf } from '../support/tree.ts';

/** A text of the tree with its lines joined, since sentences span lines. */
const proseOf = (path: string) => textOf(path).replaceAll(/\s*\n\s*/g, ' ');

test('the README has the numbers of the plan Free, and the tour those of pages', () => {
  const { perMinute, perDay } = plans.free;
  const shown = `the plan Free: ${grouped(perMinute)} requests per minute and ${grouped(perDay)} per day.`;
  assert.ok(proseOf('README.md').includes(shown), shown);
  assert.ok(proseOf('docs/tour.md').includes(`\`limit\` is 1 to ${maxLimit},`));
});

test('the page on security has the bounds of the code', () => {
  const page = proseOf('docs/security.md');
  const wordsFor = ({ keys, bytes }: KeptBounds) => `${grouped(keys)} and ${grouped(bytes / 1_000_000)} MB`;
  const { free, pro, business } = plans;
  const [ofFree, ofPro, ofBusiness] = [free, pro, business].map((quota) => wordsFor(keptBoundsOf(quota)));
  const { requests, characters } = archiveBounds;
  assert.equal(maxWaitingReportJobs, 3);
  for (const sentence of [
    `bodies of ${kibibytes(maxBodyBytes)} and ${grouped(maxValues)} values, ${kibibytes(maxHeaderBytes)} of headers, pages of ${maxLimit}.`,
    `(Free: ${ofFree}; Pro: ${ofPro}; Business: ${ofBusiness})`,
    `below \`/lab\` ${wordsFor(labKeptBounds)}`,
    `up to ${grouped(maxResetRows)} rows`,
    'A key has one report job in progress and three that wait.',
    `An archive has at most ${grouped(requests)} requests and ${characters / 1024 / 1024} Mi characters.`,
    `in a thread that has ${workerBounds.maxMiB} MiB and ${workerBounds.limitMs / 1_000} s`,
    `A page of categories or events has at most ${grouped(maxPageBytes)} bytes`,
    `one page at a time, of at most ${grouped(maxPageBytes)} bytes`,
    `While more than ${maxUnreadBytes / 1024 / 1024} MiB of large responses to one key`,
  ])
    assert.ok(page.includes(sentence), sentence);
});

test('the page on security has what each operation of the lab causes in a day', () => {
  const page = textOf('docs/security.md');
  const [, table = ''] = /^### The lab: what a key causes in a day$([\s\S]*?)^###/m.exec(page) ?? [];
  const named = [...table.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  for (const { id } of labOperations) assert.ok(named.includes(id), id);
  assert.equal(labQuota.perMinute, 600);
  for (const bound of [
    `${grouped(2 * maxResetsPerDay)} events of the workspace`,
    `${grouped(maxResetsPerDay)} resets of a workspace`,
    `${grouped(labQuota.perDay)} small rows, of which ${maxKept} stay`,
    `${grouped(recorderBounds.maxRecordedPerDay)} rows of at most ${kibibytes(maxRecordedBody)} and ${grouped(3 * maxRecordedHead)} characters`,
    `${maxFaults} faults; the newest ${maxKept} rehearsals`,
    `${grouped(labKeptBounds.keys)} rows and ${labKeptBounds.bytes / 1_000_000} MB`,
  ])
    assert.ok(table.includes(bound), bound);
});

test('the load balancers refuse oversized requests with the same body as the service', () => {
  const wordsOf = (code: string) =>
    JSON.stringify(toApiError(Object.assign(new Error(), { code }), 'any').body);
  const tooLarge = wordsOf('FST_ERR_CTP_BODY_TOO_LARGE');
  const nginxConf = proseOf('deploy/nginx.conf');
  for (const words of [tooLarge, wordsOf('HPE_HEADER_OVERFLOW')])
    assert.ok(nginxConf.includes(`'${words}\\n'`), words);
  assert.ok(proseOf('deploy/haproxy.cfg').includes(`'${tooLarge}'\\n`), tooLarge);
});

test('the load balancers and their pages have one number of connections of an address, and room for several addresses', () => {
  const numberIn = (file: string, pattern: RegExp) => Number(pattern.exec(proseOf(`deploy/${file}`))?.[1]);
  const most = numberIn('haproxy.cfg', /sc1_conn_cur gt (\d+) /);
  assert.ok(most >= 30 * 7, 'a class of students with six connections and a stream each');
  assert.equal(numberIn('nginx.conf', /limit_conn connections (\d+);/), most);
  for (const page of ['security', 'operations/load-balancer'])
    assert.ok(proseOf(`docs/${page}.md`).includes(`An address has at most ${most} connections`), page);
  assert.ok(numberIn('haproxy.cfg', /maxconn (\d+)/) >= 20 * most);
  assert.ok(numberIn('nginx.conf', /worker_connections (\d+)/) >= 10 * 4 * most);
});

test('numbers are grouped by thousands, and their fractions are not', () => {
  const shown = [1, 500, 1_000, 86_400, 1_000_000, 1.5, 1234.0625].map(grouped);
  assert.equal(shown.join(' '), '1 500 1,000 86,400 1,000,000 1.5 1,234.0625');
});
