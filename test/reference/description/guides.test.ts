import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { operations } from '../../../src/api/operations.ts';
import { errorCodes } from '../../../src/foundation/errors.ts';
import { banRules, maxStreams, type Plan, plans } from '../../../src/foundation/settings/plans.ts';
import { fileOf } from '../../../src/reference/description/guide-names.ts';
import { guides } from '../../../src/reference/description/guides.ts';
import { blocksOf } from '../../support/pasted.ts';
import { pythonWithRequests, whyNo } from '../../support/programs.ts';
import { serve } from '../../support/receiver.ts';
import { ampleKey, startService } from '../../support/service.ts';
import { temporaryStorage } from '../../support/storage.ts';

const skip =
  whyNo('curl') || (!pythonWithRequests && !process.env.CI && 'no Python with requests is installed');

function guide(name: string, baseUrl = 'http://localhost:8080/v1'): string {
  const found = guides(baseUrl).find((guide) => guide.name === name);
  assert.ok(found, name);
  return found.description;
}

/** The cells of the table rows of a guide that match a pattern. */
const rows = (name: string, first: RegExp) =>
  [...guide(name).matchAll(/^\| *(.*?) *\|$/gm)]
    .map(([, row]) => (row as string).split(/ *\| */))
    .filter(([cell]) => first.test(cell as string));

test('each file is a guide; guides have only lower headings, and use the configured address', () => {
  const all = guides('https://pets.example/store/v1');
  const folder = new URL('../../../src/reference/description/guides/', import.meta.url);
  assert.deepEqual(all.map(({ name }) => fileOf(name)).sort(), globSync('*.md', { cwd: folder }).sort());
  for (const { name, description } of all) {
    const prose = description.replaceAll(/```[\s\S]*?```/g, '');
    assert.doesNotMatch(description, /(?<![$%])\{[a-z_]+\}/, `${name}: a token is left`);
    assert.doesNotMatch(description, /localhost/, name);
    assert.doesNotMatch(prose, /^##? /m, `${name}: headings begin with ###`);
    assert.doesNotMatch(prose, /<\w|\]\((?!https?:)/, `${name}: no HTML, no relative links`);
  }
  assert.match(all[0]?.description ?? '', /https:\/\/pets\.example\/store\/reference\)$/m);
});

test('the guide to rate limits has the numbers of the plans and of bans', () => {
  const published = rows('Rate limits', /^(Free|Pro|Business|Enterprise)$/);
  assert.deepEqual(
    published.map(([plan, ...quota]) => [plan?.toLowerCase(), ...quota.map(toNumber)]),
    Object.entries(plans).map(([plan, quota]) => [
      ...[plan, quota?.perMinute, quota?.perDay],
      maxStreams[plan as Plan],
    ]),
  );
  const text = guide('Rate limits').replaceAll('\n', ' ');
  // "more than the requests per minute of its plan"
  assert.equal(banRules.strikesFactor, 1);
  assert.match(text, /more than the requests per minute of its plan, and in any case more than 10\./);
  assert.match(text, /first ban lasts 60 seconds/);
  assert.match(text, /within 24 hours .* lasts 2 times as long\. The maximum is 60 minutes/);
});

const toNumber = (text: string) => (text === 'set for each key' ? undefined : Number(text.replace(',', '')));

test('the guide to errors has exactly the existing codes, each with its status', () => {
  const published = rows('Errors', /^`\w+`$/).filter((cells) => cells.length === 4);
  assert.deepEqual(
    published.map(([code, status]) => [code, status]),
    Object.entries(errorCodes).map(([code, [status]]) => [`\`${code}\``, String(status)]),
  );
});

test('the guide to versions names unstable and deprecated operations as their descriptions do', () => {
  for (const stability of ['beta', 'experimental'] as const) {
    const ids = operations
      .filter((operation) => operation.stability === stability)
      .map(({ id }) => `\`${id}\``);
    assert.equal(rows('Versioning', new RegExp(`^\`${stability}\`$`))[0]?.[2], ids.join(', '));
  }
  for (const { id, deprecated } of operations) {
    if (!deprecated) continue;
    const { since, sunset, successor } = deprecated;
    for (const sentence of [
      `\`${id}\` has been deprecated since ${since}, and its sunset date is ${sunset}`,
      `Its successor is \`${successor}\``,
    ])
      assert.ok(guide('Versioning').includes(sentence), sentence);
  }
});

/** Webhook receivers do not end, so another test runs them. */
const isReceiver = (code: string) => /createServer|HTTPServer/.test(code);

/** The interpreters of examples, with their arguments before the code. */
const programs: Record<string, [string, ...string[]]> = {
  javascript: [process.execPath, '--input-type=module', '-e'],
  python: [pythonWithRequests ?? 'python3', '-c'],
  sh: ['bash', '-euc'],
};

const run = promisify(execFile);

/** The output of an example. Fails unless it exits with 0 in time. */
async function output(language: string, code: string, env: Record<string, string>): Promise<string> {
  const [program, ...args] = programs[language] as [string, ...string[]];
  const options = { env: { PATH: process.env.PATH, ...env }, timeout: 60_000 };
  return (await run(program, [...args, code], options)).stdout;
}

/** Guides show some lines of an HTTP response, but JSON completely. */
function assertShown(printed: string, language: 'json' | 'http', shown: string): void {
  if (language === 'json') assert.equal(printed, shown);
  const lines = printed.split(/\r?\n/);
  for (const line of shown.split('\n')) assert.ok(lines.includes(line), `${line} is not in\n${printed}`);
}

/** A service that answers with these statuses in turn and repeats the last. Returns its URL and the times of requests. */
async function stub(t: TestContext, statuses: number[], headers: Record<string, string>) {
  const askedAtMs: number[] = [];
  const port = await serve(t, (_request, response) => {
    const status = statuses[Math.min(askedAtMs.length, statuses.length - 1)] as number;
    askedAtMs.push(performance.now());
    response.writeHead(status, status < 400 ? {} : headers).end('[]');
  });
  return { url: `http://127.0.0.1:${port}/v1`, askedAtMs };
}

/** Runs the retry of the guide in each language. Returns the last status and the times of its requests. */
const retries = (t: TestContext, statuses: number[], headers: Record<string, string>) =>
  Promise.all(
    ['javascript', 'python'].map(async (language) => {
      const { url, askedAtMs } = await stub(t, statuses, headers);
      const example = blocksOf(guide('Rate limits', url)).find((block) => block.language === language);
      const printed = await output(language, example?.code as string, { PETSTORE_API_KEY: 'any' });
      return { status: Number(printed), askedAtMs };
    }),
  );

// The retries spend most of their time waiting.
describe('examples', { concurrency: true, skip }, () => {
  test('the examples of the guides run, and print the output that the guides show', async (t) => {
    const dataDir = join(await temporaryStorage(t), 'data');
    const { origin } = await startService(t, dataDir);
    const env = { PETSTORE_API_KEY: await ampleKey(dataDir) };
    for (const { name, description } of guides(`${origin.replace('127.0.0.1', 'localhost')}/v1`)) {
      // The files guide.examples.ts of test/lab/rehearsals and test/accounts run these.
      if (name === 'Rehearse failures' || name === 'Get a key') continue;
      let curls: string[] = [];
      let isShown = true;
      let printedByJavaScript = '';
      for (const { language, code } of blocksOf(description)) {
        // The README test runs examples that need their own key.
        if (isReceiver(code)) continue;
        if (language === 'sh') {
          if (!/^curl/m.test(code) || code.includes('$SMALL') || code.includes('/accounts/me')) continue;
          curls = [...(isShown ? [] : curls), code.replaceAll(/^curl/gm, 'curl -sS')];
          isShown = false;
        } else if (language === 'json' || language === 'http') {
          // A second response below a command belongs to its repetition.
          for (const curl of curls) assertShown(await output('sh', curl, env), language, code);
          isShown = true;
        } else {
          const printed = await output(language, code, env);
          assert.notEqual(printed, '', name);
          if (language === 'javascript') printedByJavaScript = printed;
          else assert.equal(printed, printedByJavaScript, name);
        }
      }
      assert.ok(isShown, `${name}: a command has no answer below it`);
    }
  });

  test('the commands of the guide to rate limits show the open plans, and upgrade the demo key', async (t) => {
    const dataDir = join(await temporaryStorage(t), 'data');
    const { origin } = await startService(t, dataDir);
    const env = { PETSTORE_API_KEY: readFileSync(join(dataDir, 'demo.key'), 'utf8').trim() };
    const commands = blocksOf(guide('Rate limits', `${origin}/v1`)).filter(({ code }) =>
      code.includes('/me'),
    );
    const answers = [];
    for (const { code } of commands) answers.push(JSON.parse(await output('sh', code, env)));
    const [before, after] = answers;
    assert.deepEqual([before.plan, before.upgrades], ['free', ['free', 'pro', 'business']]);
    assert.deepEqual([after.plan, after.minute.limit], ['pro', 300]);
  });

  test('the list code of the guide finds the next page in any Link, and sends no key to another host', async (t) => {
    for (const language of ['javascript', 'python']) {
      const asked: (string | undefined)[] = [];
      const port = await serve(t, (request, response) => {
        asked.push(request.url);
        const page = asked.length > 1 ? `http://127.0.0.1:${port}/v1/c` : '/v1/b';
        response.writeHead(200, { link: `</v1/a>; rel=first, <${page}>; rel="section next"` }).end('[]');
      });
      const example = blocksOf(guide('Getting started', `http://localhost:${port}/v1`)).find(
        ({ language: one, code }) => one === language && code.includes('next'),
      );
      const printed = output(language, example?.code as string, { PETSTORE_API_KEY: 'any' });
      await assert.rejects(printed, /The next page is elsewhere: http:\/\/127/);
      assert.deepEqual(asked, ['/v1/categories?limit=4', '/v1/b']);
    }
  });

  test('the retry code of the guide waits as Retry-After says, then sends again', async (t) => {
    for (const { status, askedAtMs } of await retries(t, [429, 503, 200], { 'retry-after': '1' })) {
      assert.equal(status, 200);
      const [first = 0, second = 0, third = 0] = askedAtMs;
      assert.ok(second - first >= 990 && third - second >= 990, `asked at ${askedAtMs}`);
    }
  });

  test('the retry code of the guide also waits until a date', async (t) => {
    const date = new Date(Date.now() + 3_000).toUTCString();
    for (const { status, askedAtMs } of await retries(t, [429, 200], { 'retry-after': date })) {
      const [, second = 0] = askedAtMs;
      assert.equal(status, 200);
      assert.ok(performance.timeOrigin + second >= Date.parse(date) - 10, `asked at ${askedAtMs}`);
    }
  });

  test('the retry code of the guide gives up after five attempts', async (t) => {
    for (const { status, askedAtMs } of await retries(t, [503], {}))
      assert.deepEqual([status, askedAtMs.length], [503, 5]);
  });

  test('the retry code of the guide does not wait a day, and repeats only what can succeed', async (t) => {
    const tomorrow = await retries(t, [429], { 'retry-after': '3600' });
    const refused = await retries(t, [401], {});
    for (const { askedAtMs } of [...tomorrow, ...refused]) assert.equal(askedAtMs.length, 1);
  });
});
