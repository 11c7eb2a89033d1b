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
import { temporaryFolder } from '../support/folder.ts';
import { listen } from '../support/receiver.ts';

const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2Vv5d7OnLyM=';

const store = await openGradingService({});
after(() => store.close());

/** The mistakes of a receiver, and the checks that find them. */
const caughtBy = {
  'answers 500': 'event.applied',
  'answers but forgets': 'event.applied',
  'counts each message': 'event.once',
  'refuses what it knows': 'event.once',
  'applies late events': 'event.order',
  'forgets what was deleted': 'event.order',
  'verifies nothing': 'signature.checked',
  'verifies the first signature alone': 'secret.rotated',
  'checks no time': 'timestamp.checked',
  'decodes each piece': 'body.in-pieces',
  'refuses unknown types': 'message.unknown',
  'looks before it leaps': 'event.once-at-once',
};
type Mistake = keyof typeof caughtBy;

interface Kept {
  id: number;
  name?: string;
  count: number;
}

/** A receiver that keeps the names of pets in a file. It is correct except for one mistake. */
async function startShop(t: TestContext, mistake?: Mistake) {
  const file = join(temporaryFolder(t), 'pets.json');
  const pets = new Map<number, Kept>();
  const handled = new Set<string>();
  const copies = new Map<string, number>();
  /** A second copy may have arrived meanwhile. Its id was not yet known either. */
  const untilBothLooked = async (messageId: string) => {
    for (let waits = 0; waits < 50 && copies.get(messageId) === 1; waits++) await sleep(10);
  };
  const save = () => writeFileSync(file, JSON.stringify([...pets]));
  save();

  async function apply(event: Event, messageId: string): Promise<number> {
    if (handled.has(messageId) && mistake === 'refuses what it knows') return 409;
    if (handled.has(messageId) && mistake !== 'counts each message') return 204;
    copies.set(messageId, (copies.get(messageId) ?? 0) + 1);
    if (mistake === 'looks before it leaps') await untilBothLooked(messageId);
    handled.add(messageId);
    if (!event.type.startsWith('pet.')) return 204;
    if (event.type === ('pet.groomed' as string) && mistake === 'refuses unknown types') return 422;
    const data = event.data as { id: number; name: string };
    const { id, count } = pets.get(data.id) ?? { id: 0, count: 0 };
    if (Number(event.id) < id && mistake !== 'applies late events') return 204;
    const isDeleted = event.type === 'pet.deleted';
    if (isDeleted && mistake === 'forgets what was deleted') pets.delete(data.id);
    else
      pets.set(data.id, { id: Number(event.id), count: count + 1, ...(!isDeleted && { name: data.name }) });
    return 204;
  }

  async function verified(chunks: Buffer[], headers: IncomingHttpHeaders): Promise<Event> {
    const body =
      mistake === 'decodes each piece'
        ? chunks.map((chunk) => chunk.toString()).join('')
        : Buffer.concat(chunks);
    if (mistake === 'verifies nothing') return JSON.parse(body.toString());
    const [first = ''] = String(headers['webhook-signature'] ?? '').split(' ');
    const seen =
      mistake === 'verifies the first signature alone' ? { ...headers, 'webhook-signature': first } : headers;
    const toleranceSeconds = mistake === 'checks no time' ? Number.MAX_SAFE_INTEGER : 300;
    return (await verifyWebhook(body, seen, secret, { toleranceSeconds })) as Event;
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = await Array.fromAsync(request as AsyncIterable<Buffer>);
    if (request.url === '/forget') {
      pets.clear();
      handled.clear();
      copies.clear();
      save();
      return response.end();
    }
    let status = 400;
    try {
      const event = await verified(chunks, request.headers);
      status = mistake === 'answers 500' ? 500 : 204;
      if (status === 204 && mistake !== 'answers but forgets')
        status = await apply(event, String(request.headers['webhook-id']));
      save();
    } catch {
      // Not genuine.
    }
    return response.writeHead(status).end();
  });
  const { port } = await listen(t, server);
  return { url: new URL(`http://127.0.0.1:${port}/hooks`), file };
}

async function gradeShop(t: TestContext, mistake?: Mistake) {
  const { url, file } = await startShop(t, mistake);
  return gradeReceiver({
    ...{ url, secret, store, quietMs: 30, signal: t.signal },
    stateCommand: `cat '${file}'`,
    resetCommand: `curl -sf ${new URL('/forget', url)}`,
  });
}

test('a correct webhook receiver passes every check', async (t) => {
  const { verdict, checks } = await gradeShop(t);
  assert.deepEqual(
    checks.map(({ name, result, because }) => `${name} ${result}: ${because}`),
    receiverChecks.map(({ name, right }) => `${name} passed: ${right}`),
  );
  assert.equal(verdict, 'passed');
});

for (const [mistake, check] of Object.entries(caughtBy))
  test(`a receiver that ${mistake} fails by ${check}`, async (t) => {
    const { verdict, checks, deliveries } = await gradeShop(t, mistake as Mistake);
    const [first] = checks.filter(({ result }) => result === 'failed');
    assert.equal(first?.name, check, JSON.stringify(checks));
    assert.ok((first?.evidence.length ?? 0) > 0);
    assert.ok(first?.evidence.every((number) => deliveries[Number(number) - 1]));
    const isRequired = receiverChecks.find(({ name }) => name === check)?.level === 'required';
    assert.equal(verdict, isRequired ? 'failed' : 'passed');
  });

test('a receiver that does not run, and a user command that fails, are reported', async (t) => {
  const [away, { url }] = [new URL('http://127.0.0.1:1/hooks'), await startShop(t)];
  for (const [given, message] of [
    [
      { url: away, stateCommand: 'echo' },
      `${away} cannot be reached (ECONNREFUSED). Is the receiver running?`,
    ],
    [{ url, stateCommand: 'exit 3' }, '"exit 3" exited with 3, not with 0.'],
  ] as const)
    await assert.rejects(gradeReceiver({ ...given, secret, store, signal: t.signal }), { message });
});
