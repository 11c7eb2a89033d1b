import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, verifyWebhook } from '../../src/client/index.ts';
import { openGradingService } from '../../src/grade/grading-service.ts';
import { gradeReceiver } from '../../src/grade/receiver/grade-receiver.ts';
import { trialEvents } from '../../src/grade/receiver/messages.ts';
import { receiverChecks } from '../../src/grade/receiver/receiver-checks.ts';
import { outputOf } from '../../src/grade/run/command.ts';
import type { CheckResult } from '../../src/lab/checks/report-schema.ts';
import { listen } from '../support/receiver.ts';

const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2Vv5d7OnLyM=';

const store = await openGradingService({});
const events = await trialEvents(store, AbortSignal.timeout(60_000));
await store.close();

/** The mistakes of a receiver, and the checks that find them. */
const caughtBy = {
  'decodes each piece': 'body.in-pieces',
  'answers 500': 'event.applied',
  'answers but forgets': 'event.applied',
  'applies one event of each type': 'event.applied',
  'verifies the first signature alone': 'secret.rotated',
  'counts each message': 'event.once',
  'counts each message, but later': 'event.once',
  'refuses what it knows': 'event.once',
  'knows messages by their signatures': 'event.once',
  'knows messages by type and pet': 'event.once',
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
  /** Handles only these types. */
  types?: readonly string[];
  /** Its state is a line for each event, or the sum of all differences. Default: the current name or quantity. */
  keeps?: 'events' | 'sums';
  /** Refuses changes of unknown pets with 503 until the pet is known. */
  waitsForPets?: boolean;
  /** Refuses a message with 503 while another copy of it is being handled. */
  locks?: boolean;
  /** Shows a number of a row, which each attempt uses up, as sequences of databases do. */
  numbers?: boolean;
}

interface Kept {
  id: number;
  timestamp: string;
  name?: string;
  count: number;
  row?: number;
}

const petTypes = ['pet.created', 'pet.updated', 'pet.deleted'];

/** A receiver that keeps names or quantities. It is correct except for one mistake. */
async function startShop(t: TestContext, mistake?: Mistake, ways: Ways = {}) {
  const { delayMs = mistake === 'counts each message, but later' ? 150 : 0, locks, keeps } = ways;
  const { types = petTypes } = ways;
  const lines: string[] = [];
  const pets = new Map<number, Kept>();
  const oldNames: string[] = [];
  const handled = new Set<string>();
  const copies = new Map<string, number>();
  const locked = new Set<string>();
  const seenTypes = new Set<string>();
  let lastId = 0;
  let attempts = 0;
  /** A second copy may have arrived meanwhile. Its id was not yet known either. */
  const untilBothLooked = async (messageId: string) => {
    for (let waits = 0; waits < 50 && copies.get(messageId) === 1; waits++) await sleep(10);
  };
  let state = '';
  const save = () => {
    state = JSON.stringify([...pets, ...oldNames, ...lines]);
  };
  save();

  async function apply(event: Event, messageId: string, isKnown: boolean): Promise<number> {
    const row = ++attempts;
    if (isKnown && mistake === 'refuses what it knows') return 409;
    if (isKnown && !mistake?.startsWith('counts each message')) return 204;
    copies.set(messageId, (copies.get(messageId) ?? 0) + 1);
    if (mistake === 'looks before it leaps') await untilBothLooked(messageId);
    if (mistake === 'applies one event of each type' && seenTypes.has(event.type)) return 204;
    seenTypes.add(event.type);
    if (event.type === ('pet.groomed' as string) && mistake === 'refuses unknown types') return 422;
    if (!types.includes(event.type)) return 204;
    const data = event.data as { id?: number; petId: number; name?: string; quantity: number };
    const { id: petId = data.petId, name: newName = String(data.quantity) } = data;
    if (keeps === 'events') {
      handled.add(messageId);
      lines.push(`${ways.numbers ? row : ''} ${event.id} ${event.type}`);
      return 204;
    }
    const pet = pets.get(petId);
    if (!pet && event.type === 'pet.updated') {
      if (mistake === 'forgets changes that it refused') handled.add(messageId);
      if (ways.waitsForPets || mistake === 'forgets changes that it refused') return 503;
      if (mistake === 'drops changes of unknown pets') return 204;
    }
    handled.add(messageId);
    const { id, count, name, timestamp } = pet ?? { id: 0, count: 0, timestamp: '' };
    if (keeps === 'sums') {
      const { quantity: before = 0 } = (event as { previous?: { quantity?: number } }).previous ?? {};
      const sum =
        Number(name ?? 0) + (event.type === 'order.cancelled' ? -data.quantity : data.quantity - before);
      pets.set(petId, { id: 0, timestamp, count: 0, name: String(sum) });
      return 204;
    }
    const isLate = {
      'applies late events': false,
      'orders by timestamp': event.timestamp < timestamp,
      'orders all pets by one id': Number(event.id) < lastId,
    }[mistake as string];
    if (isLate ?? Number(event.id) < id) return 204;
    lastId = Number(event.id);
    const isDeleted = /deleted|cancelled/.test(event.type);
    if (name !== undefined && mistake === 'adds a row for each change') oldNames.push(name);
    if (isDeleted && mistake === 'forgets what was deleted') pets.delete(petId);
    else
      pets.set(petId, {
        ...{ id: Number(event.id), timestamp: event.timestamp, count: count + 1 },
        ...(!isDeleted && { name: newName }),
        ...(ways.numbers && { row: pet?.row ?? row }),
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
      lines.length = 0;
      lastId = attempts = 0;
      save();
      return response.end();
    }
    const { 'webhook-id': id, 'webhook-signature': signature } = request.headers;
    let messageId = String(mistake === 'knows messages by their signatures' ? signature : id);
    if (mistake === 'knows messages by type and pet') {
      const { type, data } = JSON.parse(Buffer.concat(chunks).toString());
      messageId = `${type} ${data.id}`;
    }
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
  const url = new URL(`http://127.0.0.1:${port}/hooks`);
  const reset = () => fetch(new URL('/forget', url));
  return { url, secret, events, times, reset, readState: async () => state, signal: t.signal };
}

const times = { quietMs: 30, changeMs: 1_000 };

/** Grades a receiver, if there is no mistake a correct one. */
const gradeShop = async (t: TestContext, mistake?: Mistake, ways: Ways = {}) =>
  gradeReceiver({ ...(await startShop(t, mistake, ways)), types: ways.types });

const sentences = (checks: readonly CheckResult[]) =>
  checks.map(({ name, result, because }) => `${name} ${result}: ${because}`).join('\n');

const [orders, categories, stock] = [
  ['order.placed', 'order.updated', 'order.cancelled'],
  ['category.created', 'category.updated', 'category.deleted'],
  ['inventory.updated'],
];

/** What a correct receiver is, and the checks that say nothing about it. */
const correct: [is: string, ways: Ways, unseen?: string[]][] = [
  ['keeps pets', {}],
  ['responds first and works afterwards', { delayMs: 150 }],
  ['asks again for changes of unknown pets', { waitsForPets: true }],
  ['asks again for a message that it is handling', { locks: true }],
  ['uses up a number of a row for each attempt', { numbers: true }],
  ['handles new pets', { types: ['pet.created'] }, ['event.order', 'event.early', 'event.replaces']],
  ['handles changes of pets', { types: ['pet.updated'] }, ['event.early', 'event.replaces']],
  ['handles new and changed pets', { types: ['pet.created', 'pet.updated'] }],
  ['keeps orders', { types: orders }],
  ['keeps categories', { types: categories }],
  ['keeps the stock', { types: stock }],
  [
    'handles completed orders',
    { types: ['order.completed'] },
    ['event.order', 'event.early', 'event.replaces'],
  ],
  ['records events', { keeps: 'events' }, ['event.order', 'event.replaces']],
  ['sums changes of orders', { keeps: 'sums', types: orders }, ['event.order']],
];

describe('a receiver that makes no mistake passes', { concurrency: true }, () => {
  for (const [is, ways, unseen] of correct)
    test(is, async (t) => {
      const { verdict, checks } = await gradeShop(t, undefined, ways);
      // Whether a second copy comes while it handles the first is a matter of chance.
      const isChance = (name: string) => ways.locks && name === 'event.once-at-once';
      const results = checks.map(({ name, result }) =>
        isChance(name) && result !== 'failed' ? `${name} passed` : `${name} ${result}`,
      );
      const expected = receiverChecks.map(
        ({ name }) => `${name} ${unseen?.includes(name) ? 'not_observed' : 'passed'}`,
      );
      assert.deepEqual(results, expected, sentences(checks));
      assert.equal(verdict, 'passed');
    });
});

const wrong: [mistake: Mistake, ways?: Ways][] = [
  ...Object.keys(caughtBy)
    .slice(1)
    .map((mistake): [Mistake] => [mistake as Mistake]),
  ['applies late events', { types: orders }],
  ['applies late events', { types: stock }],
  ['forgets what was deleted', { types: categories }],
  ['verifies what it has parsed', { types: categories }],
  ['verifies what it has parsed', { types: stock }],
  ['looks before it leaps', { numbers: true, keeps: 'events' }],
];

const fails = (mistake: Mistake, ways?: Ways) =>
  test(`a receiver that ${mistake} fails ${ways ? `with ${Object.values(ways)}` : ''}`, async (t) => {
    const check = caughtBy[mistake];
    const { verdict, checks, deliveries } = await gradeShop(t, mistake, ways);
    const [first] = checks.filter(({ result }) => result === 'failed');
    assert.equal(first?.name, check, sentences(checks));
    assert.ok((first?.evidence.length ?? 0) > 0);
    assert.ok(first?.evidence.every((number) => deliveries[Number(number) - 1]));
    const isRequired = receiverChecks.find(({ name }) => name === check)?.level === 'required';
    assert.equal(verdict, isRequired ? 'failed' : 'passed');
  });

// Beside others, the pieces of a body may arrive together.
fails('decodes each piece');

describe('receivers with a mistake', { concurrency: true }, () => {
  for (const [mistake, ways] of wrong) fails(mistake, ways);
});

test('a receiver that was graded before is graded alike without reset', async (t) => {
  const { reset, ...shop } = await startShop(t);
  for (let runs = 0; runs < 2; runs++) {
    const { verdict, checks } = await gradeReceiver(shop);
    assert.equal(verdict, 'passed', sentences(checks));
  }
});

const restless =
  'The output of --state changes by itself: two runs without an event in between differ. Leave out times and counts of requests.';

test('a receiver that does not run, a user command that fails or hangs, and a state that changes by itself are reported', async (t) => {
  const shop = await startShop(t);
  const away = new URL('http://127.0.0.1:1/hooks');
  const run = (command: string, limitMs?: number) => () => outputOf(command, { signal: t.signal, limitMs });
  let reads = 0;
  const restlessAfterComet = async () => {
    const state = await shop.readState();
    return state.includes('Comet') ? `${++reads}` : state;
  };
  for (const [given, message] of [
    [{ url: away }, `${away} cannot be reached (ECONNREFUSED). Is the receiver running?`],
    [{ readState: run('exit 3') }, '"exit 3" exited with 3, not with 0.'],
    [{ readState: run('sleep 9', 50) }, '"sleep 9" does not end within 0.05 s.'],
    [
      { readState: run('head -c 70000000 /dev/zero') },
      '"head -c 70000000 /dev/zero" prints more than 64 MiB.',
    ],
    [{ readState: async () => `${++reads}` }, restless],
    [{ readState: restlessAfterComet }, restless],
  ] as const)
    await assert.rejects(gradeReceiver({ ...shop, times: { quietMs: 30, changeMs: 300 }, ...given }), {
      message,
    });
});

test('processes that a command leaves behind are ended, except those of a restart', async (t) => {
  const isRunning = (pid: string) => {
    try {
      return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  };
  for (const [command, keepsProcesses] of [
    ['sleep 777 >/dev/null 2>&1 & echo $!', false],
    ['setsid sleep 777 >/dev/null 2>&1 & echo $!', false],
    ['sleep 777 >/dev/null 2>&1 & echo $!', true],
  ] as const) {
    const pid = await outputOf(command, { signal: t.signal, keepsProcesses });
    // A process ends soon after its signal.
    for (let waits = 0; waits < 100 && !keepsProcesses && isRunning(pid); waits++) await sleep(10);
    assert.equal(isRunning(pid), keepsProcesses, command);
    if (keepsProcesses) process.kill(Number(pid), 'SIGKILL');
  }
});
