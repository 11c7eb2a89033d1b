import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
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

/** The receiver of a webhook for all events of the demo workspace. */
export class WebhookReceiver {
  /** Whether it accepts everything at once. Otherwise it first refuses some events, and is slow with others. */
  isCalm = false;
  readonly #messages: Message[];
  readonly #key: string;
  readonly #verifier: Verifier;
  readonly #random: Random;
  #counts: Counts = { received: 0, again: 0 };
  #lastId = 0;
  /** Ids of the received events, and of the accepted ones. */
  readonly #known = new Set<number>();
  readonly #accepted = new Set<number>();

  /** Adds the webhook, which gets all later events. */
  static async start(
    t: TestContext,
    { origin }: Service,
    key: string,
    random: Random,
  ): Promise<WebhookReceiver> {
    const server = await startReceiver(t);
    const body = { url: server.url };
    const added = await fetchChecked(origin, 'POST', '/store/webhooks', { key, body });
    assert.equal(added.status, 201, added.text);
    const receiver = new WebhookReceiver(server.messages, key, added.body.secret, random);
    server.behave = (request, response) => receiver.#answer(request, response);
    return receiver;
  }

  private constructor(messages: Message[], key: string, secret: string, random: Random) {
    this.#messages = messages;
    this.#key = key;
    this.#verifier = new Verifier(secret);
    this.#random = random;
  }

  /** The number of its requests. */
  get received(): number {
    return this.#messages.length;
  }

  /** The number of requests since the last call, and how many of them repeated accepted events. */
  takeCounts(): Counts {
    const counts = this.#counts;
    this.#counts = { received: 0, again: 0 };
    return counts;
  }

  #answer({ socket }: IncomingMessage, response: ServerResponse): void {
    const id = idOf(this.#messages.at(-1) as Message);
    this.#counts.received++;
    if (this.#accepted.has(id)) this.#counts.again++;
    this.#lastId = Math.max(this.#lastId, id);
    const accept = () => {
      this.#accepted.add(id);
      response.writeHead(204).end();
    };
    const mood = this.isCalm || this.#known.has(id) ? 'well' : moods[this.#random(moods.length)];
    this.#known.add(id);
    if (mood === 'failing') response.writeHead(500).end();
    else if (mood === 'rude') socket.resetAndDestroy();
    else if (mood === 'slow') setTimeout(accept, slowMs);
    else accept();
  }

  /** Waits until few events remain, since writers are faster. */
  async untilNear(lastId: number): Promise<void> {
    await until(() => this.#lastId >= lastId - maxBehind);
  }

  /** Waits until the last event has arrived, and no retry is pending. */
  async untilSettled({ origin }: Service, lastId: number): Promise<void> {
    await until(() => this.#accepted.has(lastId));
    const path = '/store/webhooks/1/deliveries?state=pending';
    await until(async () => (await fetchChecked(origin, 'GET', path, { key: this.#key })).body.length === 0);
  }

  /** Each of these events was accepted. */
  assertHas(events: readonly Event[]): void {
    const missing = events.filter(({ id }) => !this.#accepted.has(id));
    assert.deepEqual(missing, [], 'every event has reached the receiver');
  }

  /** After its first `after` requests it received these events, once each, in order. */
  assertHasOnce(events: readonly Event[], after: number): void {
    assert.deepEqual(
      this.#messages.slice(after).map(idOf),
      events.map(({ id }) => id),
    );
  }

  /** Every request had an event of this history, with one webhook-id, signed with the secret. */
  assertGenuine(history: readonly Event[]): void {
    const messageIds = new Map<number, string>();
    for (const message of this.#messages) {
      const { headers, body } = message;
      const id = idOf(message);
      assert.deepEqual(JSON.parse(body), history[id - 1]);
      const messageId = String(headers['webhook-id']);
      assert.equal(messageIds.get(id) ?? messageId, messageId, `event ${id} keeps its webhook-id`);
      messageIds.set(id, messageId);
      // By the clock of the service, which is ahead.
      const sentAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
      assert.equal(headers['webhook-signature'], this.#verifier.sign(messageId, sentAt, body));
    }
    assert.equal(
      new Set(messageIds.values()).size,
      messageIds.size,
      'each event has a webhook-id of its own',
    );
  }
}

const moods = ['failing', 'rude', 'slow', 'well', 'well', 'well', 'well', 'well'] as const;

const idOf = ({ body }: Message): number => JSON.parse(body).id;
