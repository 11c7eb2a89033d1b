import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Webhook as Verifier } from 'standardwebhooks';
import { type Message, startReceiver } from '../dispatching.ts';
import type { Event } from '../history.ts';
import { fetchChecked } from '../petstore.ts';
import type { Service } from '../service.ts';
import { until } from '../until.ts';
import type { Random } from './random.ts';
import type { CrashRound } from './store.ts';

const slowMs = 50;
/** How many events it may be behind at the start of a round. */
const maxBehind = 100;

type Counts = Pick<CrashRound, 'received' | 'again'>;

/** Adds a webhook, which gets all later events of the demo workspace, and starts its receiver. */
export async function startCrashReceiver(t: TestContext, { origin }: Service, key: string, random: Random) {
  const server = await startReceiver(t);
  const { messages } = server;
  const added = await fetchChecked(origin, 'POST', '/store/webhooks', { key, body: { url: server.url } });
  assert.equal(added.status, 201, added.text);
  const verifier = new Verifier(added.body.secret);
  let counts: Counts = { received: 0, again: 0 };
  /** Ids of the received events, and of the accepted ones. */
  const known = new Set<number>();
  const accepted = new Set<number>();
  let lastReceived = 0;

  server.behave = ({ socket }, response) => {
    const id = idOf(messages.at(-1) as Message);
    counts.received++;
    if (accepted.has(id)) counts.again++;
    const accept = () => {
      accepted.add(id);
      response.writeHead(204).end();
    };
    lastReceived = Math.max(lastReceived, id);
    const mood = receiver.isCalm || known.has(id) ? 'well' : moods[random(moods.length)];
    known.add(id);
    if (mood === 'failing') response.writeHead(500).end();
    else if (mood === 'rude') socket.resetAndDestroy();
    else if (mood === 'slow') setTimeout(accept, slowMs);
    else accept();
  };

  const receiver = {
    /** Whether it accepts everything at once. Otherwise it first refuses some events, and is slow with others. */
    isCalm: false,
    /** The number of its requests. */
    received: () => messages.length,
    /** The number of requests since the last call, and how many of them repeated accepted events. */
    takeCounts(): Counts {
      const taken = counts;
      counts = { received: 0, again: 0 };
      return taken;
    },
    /** Waits until few events remain, since writers are faster. */
    untilNear: (lastId: number) => until(() => lastReceived >= lastId - maxBehind),
    /** Waits until the last event has arrived, and no retry is pending. */
    async untilSettled({ origin }: Service, lastId: number): Promise<void> {
      await until(() => accepted.has(lastId));
      const path = '/store/webhooks/1/deliveries?state=pending';
      await until(async () => (await fetchChecked(origin, 'GET', path, { key })).body.length === 0);
    },
    /** Each of these events was accepted. */
    assertHas(events: readonly Event[]): void {
      const missing = events.filter(({ id }) => !accepted.has(id));
      assert.deepEqual(missing, [], 'every event has reached the receiver');
    },
    /** After its first `after` requests it received these events, once each, in order. */
    assertHasOnce(events: readonly Event[], after: number): void {
      assert.deepEqual(
        messages.slice(after).map(idOf),
        events.map(({ id }) => id),
      );
    },
    /** Every request had an event of this history, with one webhook-id, signed with the secret. */
    assertGenuine(history: readonly Event[]): void {
      const messageIds = new Map<number, string>();
      for (const message of messages) {
        const { headers, body } = message;
        const id = idOf(message);
        assert.deepEqual(JSON.parse(body), history[id - 1]);
        const messageId = String(headers['webhook-id']);
        assert.equal(messageIds.get(id) ?? messageId, messageId, `event ${id} keeps its webhook-id`);
        messageIds.set(id, messageId);
        // By the clock of the service, which is ahead.
        const sentAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
        assert.equal(headers['webhook-signature'], verifier.sign(messageId, sentAt, body));
      }
      const { size } = new Set(messageIds.values());
      assert.equal(size, messageIds.size, 'each event has a webhook-id of its own');
    },
  };
  return receiver;
}

const moods = ['failing', 'rude', 'slow', 'well', 'well', 'well', 'well', 'well'] as const;

const idOf = ({ body }: Message): number => JSON.parse(body).id;
