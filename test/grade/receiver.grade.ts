import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, verifyWebhook } from '../../src/client/index.ts';
import { openGradingService } from '../../src/grade/grading-service.ts';
import { gradeReceiver } from '../../src/grade/receiver/grade-receiver.ts';
import { receiverChecks } from '../../src/grade/receiver/receiver-checks.ts';
import type { CheckResult } from '../../src/lab/checks/report-schema.ts';
import { temporaryFolder } from '../support/folder.ts';
import { listen } from '../support/receiver.ts';

const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2Vv5d7OnLyM=';

const store = await openGradingService({});
after(() => store.close());

/** The mistakes of a receiver, and the checks that find them. */
const caughtBy = {
  'answers 500': 'event.applied',
  'answers but forgets': 'event.applied',
  'applies one event of each type': 'event.applied',
  'decodes each piece': 'body.in-pieces',
  'verifies the first signature alone': 'secret.rotated',
  'counts each message': 'event.once',
  'counts each message, but later': 'event.once',
  'refuses what it knows': 'event.once',
  'knows messages by their signatures': 'event.once',
  'applies late events': 'event.order',
  'forgets what was deleted': 'event.order',
  'orders by timestamp': 'event.order',
  'orders all pets by one id': 'event.order',
  'drops changes of unknown pets': 'event.early',
  'forgets changes that it refused': 'event.early',
  'adds a row for each change': 'event.replaces',
  'verifies nothing': 'signature.checked',
  'stores ids before it verifies': 'signature.checked',
  'checks no time': 'timestamp.checked',
  'refuses unknown types': 'message.unknown',
  'verifies what it has parsed': 'body.exact',
  'looks before it leaps': 'event.once-at-once',
};
type Mistake = keyof typeof caughtBy;

/** What a correct receiver may do. */
interface Ways {
  /** Responds at once, and works this long. */
  delayMs?: number;
  /** Has only these types. */
  types?: readonly string[];
  /** Refuses changes of unknown pets with 503 until the pet is known. */
  waitsForPets?: boolean;
  /** Refuses a message with 503 while another copy of it is being handled. */
  locks?: boolean;
}

interface Kept {
  id: number;
  timestamp: string;
  name?: string;
  count: number;
}

/** A receiver that keeps the names of pets in a file. It is correct except for one mistake. */
async function startShop(t: TestContext, mistake?: Mistake, ways: Ways = {}) {
  const { delayMs = mistake === 'counts each message, but later' ? 150 : 0, types, locks } = ways;
  const file = join(temporaryFolder(t), 'pets.json');
  const pets = new Map<number, Kept>();
  const oldNames: string[] = [];
  const handled = new Set<string>();
  const copies = new Map<string, number>();
  const locked = new Set<string>();
  const seenTypes = new Set<string>();
  let lastId = 0;
  /** A second copy may have arrived meanwhile. Its id was not yet known either. */
  const untilBothLooked = async (messageId: string) => {
    for (let waits = 0; waits < 50 && copies.get(messageId) === 1; waits++) await sleep(10);
  };
  const save = () => writeFileSync(file, JSON.stringify([...pets, ...oldNames]));
  save();

  async function apply(event: Event, messageId: string, isKnown: boolean): Promise<number> {
    if (isKnown && mistake === 'refuses what it knows') return 409;
    if (isKnown && !mistake?.startsWith('counts each message')) return 204;
    copies.set(messageId, (copies.get(messageId) ?? 0) + 1);
    if (mistake === 'looks before it leaps') await untilBothLooked(messageId);
    if (mistake === 'applies one event of each type' && seenTypes.has(event.type)) return 204;
    seenTypes.add(event.type);
    if (!event.type.startsWith('pet.') || types?.includes(event.type) === false) return 204;
    if (event.type === ('pet.groomed' as string) && mistake === 'refuses unknown types') return 422;
    const data = event.data as { id: number; name: string };
    const pet = pets.get(data.id);
    if (!pet && event.type === 'pet.updated') {
      if (mistake === 'forgets changes that it refused') handled.add(messageId);
      if (ways.waitsForPets || mistake === 'forgets changes that it refused') return 503;
      if (mistake === 'drops changes of unknown pets') return 204;
    }
    handled.add(messageId);
    const { id, count, name, timestamp } = pet ?? { id: 0, count: 0, timestamp: '' };
    const isLate = {
      'applies late events': false,
      'orders by timestamp': event.timestamp < timestamp,
      'orders all pets by one id': Number(event.id) < lastId,
    }[mistake as string];
    if (isLate ?? Number(event.id) < id) return 204;
    lastId = Number(event.id);
    const isDeleted = event.type === 'pet.deleted';
    if (name !== undefined && mistake === 'adds a row for each change') oldNames.push(name);
    if (isDeleted && mistake === 'forgets what was deleted') pets.delete(data.id);
    else
      pets.set(data.id, {
        ...{ id: Number(event.id), timestamp: event.timestamp, count: count + 1 },
        ...(!isDeleted && { name: data.name }),
      });
    return 204;
  }

  async function verified(chunks: Buffer[], headers: IncomingHttpHeaders): Promise<Event> {
    const body =
      mistake === 'decodes each piece'
        ? chunks.map((chunk) => chunk.toString()).join('')
        : Buffer.concat(chunks).toString();
    if (mistake === 'verifies nothing') return JSON.parse(body);
    const [first = ''] = String(headers['webhook-signature'] ?? '').split(' ');
    const seen =
      mistake === 'verifies the first signature alone' ? { ...headers, 'webhook-signature': first } : headers;
    const toleranceSeconds = mistake === 'checks no time' ? Number.MAX_SAFE_INTEGER : 300;
    const text = mistake === 'verifies what it has parsed' ? JSON.stringify(JSON.parse(body)) : body;
    return (await verifyWebhook(text, seen, secret, { toleranceSeconds })) as Event;
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = await Array.fromAsync(request as AsyncIterable<Buffer>);
    if (request.url === '/forget') {
      for (const known of [pets, handled, copies]) known.clear();
      lastId = 0;
      save();
      return response.end();
    }
    const { 'webhook-id': id, 'webhook-signature': signature } = request.headers;
    const messageId = String(mistake === 'knows messages by their signatures' ? signature : id);
    const wasKnown = handled.has(messageId);
    if (mistake === 'stores ids before it verifies') handled.add(messageId);
    let status = 400;
    try {
      const event = await verified(chunks, request.headers);
      status = mistake === 'answers 500' ? 500 : 204;
      if (delayMs > 0) {
        response.writeHead(status).end();
        await sleep(delayMs);
      }
      if (locked.has(messageId)) status = 503;
      else if (status === 204 && mistake !== 'answers but forgets') {
        locked.add(locks ? messageId : '');
        if (locks) await sleep(50);
        const isKnown = mistake === 'stores ids before it verifies' ? wasKnown : handled.has(messageId);
        status = await apply(event, messageId, isKnown);
        locked.delete(messageId);
      }
      save();
    } catch {
      // Not genuine.
    }
    return response.headersSent ? response : response.writeHead(status).end();
  });
  const { port } = await listen(t, server);
  return { url: new URL(`http://127.0.0.1:${port}/hooks`), file };
}

/** Grades a receiver, if there is no mistake a correct one. */
async function gradeShop(t: TestContext, mistake?: Mistake, ways: Ways = {}) {
  const { url, file } = await startShop(t, mistake, ways);
  return gradeReceiver({
    ...{ url, secret, store, types: ways.types, times: { quietMs: 30, changeMs: 1_000 }, signal: t.signal },
    stateCommand: `cat '${file}'`,
    resetCommand: `curl -sf ${new URL('/forget', url)}`,
  });
}

const sentences = (checks: readonly CheckResult[]) =>
  checks.map(({ name, result, because }) => `${name} ${result}: ${because}`);

const correct: Record<string, Ways> = {
  'is correct': {},
  'responds first and works afterwards': { delayMs: 150 },
  'asks again for changes of unknown pets': { waitsForPets: true },
  'asks again for a message that it is handling': { locks: true },
};

for (const [way, ways] of Object.entries(correct))
  test(`a webhook receiver that ${way} passes every check`, async (t) => {
    const { verdict, checks } = await gradeShop(t, undefined, ways);
    assert.deepEqual(
      sentences(checks),
      receiverChecks.map(({ name, right }) => `${name} passed: ${right}`),
    );
    assert.equal(verdict, 'passed');
  });

for (const [types, unseen] of [
  [['pet.created'], ['event.order', 'event.early', 'event.replaces']],
  [['pet.updated'], ['event.early', 'event.replaces']],
  [['pet.created', 'pet.updated'], []],
])
  test(`a receiver of ${types} passes, and is not judged by other types`, async (t) => {
    const { verdict, checks } = await gradeShop(t, undefined, { types: types as string[] });
    const results = checks.map(({ name, result }) => `${name} ${result}`);
    const expected = receiverChecks.map(
      ({ name }) => `${name} ${unseen?.includes(name) ? 'not_observed' : 'passed'}`,
    );
    assert.deepEqual(results, expected, sentences(checks).join('\n'));
    assert.equal(verdict, 'passed');
  });

for (const [mistake, check] of Object.entries(caughtBy))
  test(`a receiver that ${mistake} fails by ${check}`, async (t) => {
    const { verdict, checks, deliveries } = await gradeShop(t, mistake as Mistake);
    const [first] = checks.filter(({ result }) => result === 'failed');
    assert.equal(first?.name, check, sentences(checks).join('\n'));
    assert.ok((first?.evidence.length ?? 0) > 0);
    assert.ok(first?.evidence.every((number) => deliveries[Number(number) - 1]));
    const isRequired = receiverChecks.find(({ name }) => name === check)?.level === 'required';
    assert.equal(verdict, isRequired ? 'failed' : 'passed');
  });

test('a receiver that was graded before is graded alike without --reset', async (t) => {
  const { url, file } = await startShop(t);
  for (let runs = 0; runs < 2; runs++) {
    const { verdict, checks } = await gradeReceiver({
      ...{ url, secret, store, times: { quietMs: 30, changeMs: 1_000 }, signal: t.signal },
      stateCommand: `cat '${file}'`,
    });
    assert.equal(verdict, 'passed', sentences(checks).join('\n'));
  }
});

const restless =
  'The output of --state changes by itself: two runs without an event in between differ. Leave out times and counts of requests.';

test('a receiver that does not run, a user command that fails or hangs, and a state that changes by itself are reported', async (t) => {
  const [away, { url, file }] = [new URL('http://127.0.0.1:1/hooks'), await startShop(t)];
  for (const [given, message] of [
    [
      { url: away, stateCommand: 'echo' },
      `${away} cannot be reached (ECONNREFUSED). Is the receiver running?`,
    ],
    [{ url, stateCommand: 'exit 3' }, '"exit 3" exited with 3, not with 0.'],
    [{ url, stateCommand: 'sleep 9', commandMs: 50 }, '"sleep 9" does not end within 0.05 s.'],
    [{ url, stateCommand: 'date +%N' }, restless],
    [{ url, stateCommand: `grep -q Comet '${file}' && date +%N || cat '${file}'` }, restless],
  ] as const)
    await assert.rejects(
      gradeReceiver({
        ...{ times: { quietMs: 30, changeMs: 300 }, secret, store, signal: t.signal },
        ...given,
      }),
      { message },
    );
});
