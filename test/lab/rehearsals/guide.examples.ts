import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { CheckResult } from '../../../src/lab/checks/report-schema.ts';
import { faultNames } from '../../../src/lab/faults/list.ts';
import { guides } from '../../../src/reference/description/guides.ts';
import { type Block, below, blocksOf } from '../../support/pasted.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { freePort } from '../../support/port.ts';
import { whyNo } from '../../support/programs.ts';

const run = promisify(execFile);

const guide = (baseUrl: string) =>
  guides(baseUrl).find(({ name }) => name === 'Rehearse failures')?.description ?? '';

/** The command that runs an example, by the language of its block. */
const programs: Record<string, [string, ...string[]]> = {
  sh: ['bash', '-uc'],
  javascript: [process.execPath, '--input-type=module', '-e'],
  python: ['python3', '-c'],
};
const languages = Object.keys(programs);

/** The worked example of a fault, from its section of the guide. */
interface Example {
  fault: string;
  /** The body that starts the rehearsal. */
  rehearsal: { faults: { fault: string }[] };
  /** Lines that are printed only under the fault. */
  shown: string[];
  /** Its own programs with the lines that they print, by language. Other faults use the common program. */
  own: Map<string, { code: string; printed: string[] }>;
}

function examplesOf(description: string): Example[] {
  return [...description.matchAll(/^### ([a-z-]+)$/gm)].map(([heading, fault]) => {
    const blocks = blocksOf(below(heading, description));
    const codeIn = (language: string) => blocks.find((block) => block.language === language)?.code;
    const shown = linesOf(codeIn('text') ?? '');
    const own = blocks.flatMap(({ language, code }, i) => {
      const next = blocks[i + 1];
      const printed = next?.language === 'text' ? linesOf(next.code) : shown;
      return language in programs ? [[language, { code, printed }] as const] : [];
    });
    return {
      fault: fault as string,
      rehearsal: JSON.parse(codeIn('json') as string),
      shown,
      own: new Map(own),
    };
  });
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

/** Starts a store that listens, and returns the guide for its address. */
async function startWithGuide(t: TestContext, options: { isTimeReal: boolean }) {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const store = await startPetstore(t, { baseUrl });
  if (options.isTimeReal) Object.defineProperty(store, 'nowMs', { get: () => Date.now() });
  await store.listen(port);
  return { store, description: guide(baseUrl) };
}

/** The common program in a language, and what it prints without faults. */
function commonProgram(description: string, language: string): { code: string; printed: string[] } {
  const section = below('### A client that survives them all', description);
  const [shown, ...blocks] = blocksOf(section);
  const code = blocks.find((block) => block.language === language)?.code as string;
  return { code, printed: linesOf((shown as Block).code) };
}

/** Runs an example in a workspace of its own, and compares its output with the guide. */
async function perform(store: Petstore, description: string, example: Example, language: string) {
  const { fault, rehearsal, shown, own } = example;
  const title = `${fault} in ${language}`;
  const { key } = await store.addWorkspace(title, true);
  const begun = await store.send('POST', '/lab/rehearsals', { key, body: rehearsal });
  assert.equal(begun.status, 201, begun.text);
  const recording = await store.send('POST', '/lab/recordings', { key, body: {} });
  const common = commonProgram(description, language);
  const ofItsOwn = own.get(language);
  const { stdout, stderr } = await runExample(language, ofItsOwn?.code ?? common.code, key);
  const { body } = await store.send('GET', `/lab/rehearsals/${begun.body.id}`, { key });
  assert.ok(body.faults[0].performed > 0, `${title} was performed: ${stdout}`);
  const printed = linesOf(stdout);
  if (ofItsOwn) {
    assert.deepEqual(printed, ofItsOwn.printed, title);
    return;
  }
  const report = await store.send('GET', `/lab/recordings/${recording.body.id}/report`, { key });
  const failed = (report.body.checks as CheckResult[]).filter(({ result }) => result === 'failed');
  assert.deepEqual(failed, [], title);
  const isRetry = (line: string) => line.endsWith(', retrying');
  // curl reports most retries in its own words.
  if (shown.some(isRetry)) assert.match(stdout + stderr, /retrying|Will retry/, title);
  const isPrinted = (line: string) => language !== 'sh' || !isRetry(line) || printed.includes(line);
  const beyond = printed.filter((line) => !common.printed.includes(line));
  assert.deepEqual(beyond, shown.filter(isPrinted), title);
  const results = printed.filter((line) => !/, (retrying|reading again)$/.test(line));
  assert.equal(results.length, common.printed.length, title);
  await store.send('DELETE', `/lab/rehearsals/${begun.body.id}`, { key });
  const pets = await store.call('GET', '/pets?limit=100', { key });
  assert.equal(pets.body.length, 20, `${title} leaves nothing behind`);
}

function runExample(language: string, code: string, key: string) {
  const [program, ...args] = programs[language] as [string, ...string[]];
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PETSTORE_API_KEY: key };
  return run(program, [...args, code], { env, timeout: 120_000 });
}

const description = guide('http://localhost:8080/v1');

test('the guide has a worked example of every fault, and no other', () => {
  const examples = examplesOf(description);
  assert.deepEqual(examples.map(({ fault }) => fault).sort(), faultNames.toSorted());
  for (const { fault, rehearsal } of examples) assert.equal(rehearsal.faults[0]?.fault, fault);
});

describe('worked examples', { concurrency: true, skip: whyNo('curl', 'python3') }, () => {
  test('each example meets its fault, prints the output of the guide and fails no check, in cURL, JavaScript and Python', async (t) => {
    const { store, description } = await startWithGuide(t, { isTimeReal: true });
    const examples = examplesOf(description).filter(({ fault }) => fault !== 'near-limit');
    const next = examples.flatMap((example) => languages.map((language) => ({ example, language }))).values();
    const work = async () => {
      for (const { example, language } of next) await perform(store, description, example, language);
    };
    await Promise.all(Array.from({ length: 4 * availableParallelism() }, work));
  });

  for (const language of languages) {
    test(`the client of the guide in ${language} makes a change once if its response was lost`, async (t) => {
      const { store, description } = await startWithGuide(t, { isTimeReal: true });
      const { code, printed } = commonProgram(description, language);
      for (const others of [[], [{ fault: 'conflict', operation: 'updatePet' }]]) {
        const { key } = await store.addWorkspace(`${language} ${others.length}`, true);
        const faults = [{ fault: 'lost-answer', operation: 'updatePet' }, ...others];
        await store.send('POST', '/lab/rehearsals', { key, body: { faults } });
        const { stdout } = await runExample(language, code, key);
        const renamed = await store.call('GET', '/store/events?type=pet.updated&limit=100', { key });
        const names = renamed.body.map(({ data }: { data: { name: string } }) => data.name);
        const golden = 'Smaug the Golden';
        assert.deepEqual(names, [golden, ...others.map(() => `${golden} (another writer)`)], stdout);
        const last = others.length > 0 ? `He is now ${golden} (another writer).` : printed.at(-1);
        assert.equal(linesOf(stdout).at(-1), last);
        assert.match(stdout, /^PATCH: 412, reading again$/m);
      }
    });

    test(`the client of the guide waits for the end of a minute in ${language}`, async (t) => {
      const { store, description } = await startWithGuide(t, { isTimeReal: false });
      store.nowMs = Date.parse('2026-06-01T12:00:59Z');
      // Slows the stopwatch, so that the client has just seen 0 remaining, also on a busy machine.
      store.stopwatch = () => performance.now() / 4;
      // A client returns after the refusal has ended. In the recording, a slow response begins earlier, by the pace of the stopwatch.
      let isRefused = false;
      store.app.server.prependListener('request', (_request, response) => {
        if (isRefused) store.nowMs += 20_000;
        isRefused = false;
        response.on('finish', () => (isRefused = response.statusCode === 429));
      });
      const example = examplesOf(description).find(({ fault }) => fault === 'near-limit') as Example;
      await perform(store, description, example, language);
    });
  }
});
