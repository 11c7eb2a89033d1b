import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { grouped, kibibytes, maxBodyBytes, maxHeaderBytes, maxValues } from '../src/bounds.ts';
import { toApiError } from '../src/errors.ts';
import { defaultBanRules } from '../src/limits/decision.ts';
import { plans } from '../src/limits/plans.ts';
import { maxLimit } from '../src/page.ts';

/** A text of the tree with its lines joined, since sentences run on. */
const textOf = (path: string) =>
  readFileSync(new URL(`../${path}`, import.meta.url), 'utf8').replaceAll(/\s*\n\s*/g, ' ');

test('the README has the numbers of the plans, of bans and of pages', () => {
  const readme = textOf('README.md');
  for (const [plan, quota] of Object.entries(plans)) {
    const cells = quota ? [grouped(quota.perMinute), grouped(quota.perDay)] : ['per key', 'per key'];
    assert.match(readme, new RegExp(`\\| ${plan} +\\| ${cells.join(' +\\| ')} +\\|`, 'i'));
  }
  const { firstMs, growth, longestMs } = defaultBanRules;
  assert.deepEqual({ firstMs, growth, longestMs }, { firstMs: 60_000, growth: 2, longestMs: 3_600_000 });
  assert.ok(readme.includes('for a minute at first, then twice as long each time, an hour at most'));
  assert.ok(readme.includes(`\`limit\` is 1 to ${maxLimit},`));
});

test('the page on security has the bounds of bodies, header fields and pages', () => {
  const bounds = `bodies of ${kibibytes(maxBodyBytes)} and ${grouped(maxValues)} values, ${kibibytes(maxHeaderBytes)} of header fields, pages of ${maxLimit};`;
  assert.ok(textOf('docs/security.md').includes(bounds), bounds);
});

test('the load balancer refuses what is too large in the words of the service', () => {
  const nginxConf = textOf('deploy/nginx.conf');
  for (const code of ['FST_ERR_CTP_BODY_TOO_LARGE', 'HPE_HEADER_OVERFLOW']) {
    const { body } = toApiError(Object.assign(new Error(), { code }), 'any');
    assert.ok(nginxConf.includes(`'${JSON.stringify(body)}\\n'`), body.message);
  }
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
