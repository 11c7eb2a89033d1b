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
  maxWaitingReadings,
  recorderBounds,
} from '../../src/lab/lab-bounds.ts';
import { labOperations } from '../../src/lab/petstore/petstore-api.ts';
import { workerBounds } from '../../src/lab/readings/readings.ts';
import { textOf } from '../support/tree.ts';

/** A text of the tree with its lines joined, since sentences span lines. */
const proseOf = (path: string) => textOf(path).replaceAll(/\s*\n\s*/g, ' ');

test('the README has the numbers of the plan Free, and the tour those of pages', () => {
  const { perMinute, perDay } = plans.free;
  const shown = `the plan Free: ${grouped(perMinute)} requests per minute and ${grouped(perDay)} per day.`;
  assert.ok(proseOf('README.md').includes(shown), shown);
  assert.ok(proseOf('docs/tour.md').includes(`\`limit\` is 1 to ${maxLimit},`));
});

test('the page on security has the bounds of bodies, header fields and pages', () => {
  const bounds = `bodies of ${kibibytes(maxBodyBytes)} and ${grouped(maxValues)} values, ${kibibytes(maxHeaderBytes)} of headers, pages of ${maxLimit}.`;
  assert.ok(proseOf('docs/security.md').includes(bounds), bounds);
});

test('the page on security has the bounds of Idempotency-Keys and of resets', () => {
  const page = proseOf('docs/security.md');
  const wordsFor = ({ keys, bytes }: KeptBounds) => `${grouped(keys)} and ${grouped(bytes / 1_000_000)} MB`;
  const { free, pro, business } = plans;
  const [ofFree, ofPro, ofBusiness] = [free, pro, business].map((quota) => wordsFor(keptBoundsOf(quota)));
  assert.ok(page.includes(`(Free: ${ofFree}; Pro: ${ofPro}; Business: ${ofBusiness})`));
  assert.ok(page.includes(`below \`/lab\` ${wordsFor(labKeptBounds)}`));
  assert.ok(page.includes(`up to ${grouped(maxResetRows)} rows`));
});

test('the page on security has the bounds of readings', () => {
  const security = proseOf('docs/security.md');
  assert.equal(maxWaitingReadings, 3);
  assert.ok(security.includes('A key has one reading in progress and three that wait.'));
  assert.deepEqual(archiveBounds, { requests: 1_000, characters: 2 * 1024 * 1024 });
  assert.ok(security.includes('An archive has at most 1,000 requests and 2 Mi characters.'));
  const { limitMs, maxMiB } = workerBounds;
  assert.ok(security.includes(`in a thread that has ${maxMiB} MiB and ${limitMs / 1_000} s`));
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

test('the page on security has the bounds of pages and of unread responses', () => {
  const security = proseOf('docs/security.md');
  assert.ok(security.includes(`A page of categories or events has at most ${grouped(maxPageBytes)} bytes`));
  assert.ok(security.includes(`one page at a time, of at most ${grouped(maxPageBytes)} bytes`));
  assert.ok(
    security.includes(`While more than ${maxUnreadBytes / 1024 / 1024} MiB of large responses to one key`),
  );
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
  assert.deepEqual([1, 500, 1_000, 86_400, 1_000_000, 1.5, 1234.0625].map(grouped), [
    '1',
    '500',
    '1,000',
    '86,400',
    '1,000,000',
    '1.5',
    '1,234.0625',
  ]);
});
