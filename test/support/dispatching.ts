import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { Webhook as Verifier } from 'standardwebhooks';
import type { Database } from '../../src/db/database.ts';
import { ChangeNotifier, recordEvent } from '../../src/store/history/record.ts';
import { categoryCreated } from '../../src/store/resources/categories/schema.ts';
import { Dispatcher, realTicker, type Ticker } from '../../src/store/webhooks/dispatcher.ts';
import { batchSender, type SendBatch } from '../../src/store/webhooks/send-batch.ts';
import {
  type AttemptOutcome,
  sendRequest,
  type WebhookRequest,
} from '../../src/store/webhooks/send-request.ts';
import { signedHeaders } from '../../src/store/webhooks/signature.ts';
import { assertMessage } from './asyncapi.ts';
import { type Petstore, startPetstore, testPolicy } from './petstore.ts';
import { serve } from './receiver.ts';
import { until } from './until.ts';

export interface Message {
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * A receiver of webhooks on loopback. It adds each request to `messages`, then answers 200 or calls `behave`. At the end of the test each
 * message is checked against the AsyncAPI document.
 */
export async function startReceiver(t: TestContext) {
  const messages: Message[] = [];
  const receiver = {
    url: '',
    messages,
    /** The bodies of the messages, and their event ids. */
    bodies: () => messages.map(({ body }) => JSON.parse(body)),
    ids: () => messages.map(({ body }) => JSON.parse(body).id),
    behave: (_request: IncomingMessage, response: ServerResponse): void => {
      response.end();
    },
    /** Verifies the headers with the secrets, and returns them signed at the current time. */
    signedNow(headers: IncomingHttpHeaders, body: string, secrets: string[]): Record<string, string> {
      const id = String(headers['webhook-id']);
      const at = (atMs: number) => signedHeaders({ id, atMs, body }, secrets);
      assert.partialDeepStrictEqual(headers, at(Number(headers['webhook-timestamp']) * 1_000));
      return at(Date.now());
    },
    /** Verifies that these secrets, and no others, signed a message, also with the reference library, which uses the real clock. */
    verify({ headers, body }: Message, secrets: string[]): void {
      const signed = receiver.signedNow(headers, body, secrets);
      for (const secret of secrets) new Verifier(secret).verify(body, signed);
    },
  };
  t.after(() => {
    const whole = messages.filter(({ body }) => body !== '');
    for (const { headers, body } of whole) assertMessage('webhookMessages', headers, JSON.parse(body));
  });
  const port = await serve(t, (request, response, body) => {
    messages.push({ headers: request.headers, body });
    receiver.behave(request, response);
  });
  receiver.url = `http://127.0.0.1:${port}/`;
  return receiver;
}

/** An empty store with a webhook, its receiver and its secret. */
export async function startWebhook(t: TestContext, fields: object = {}) {
  const store = await startPetstore(t, { seed: false });
  const receiver = await startReceiver(t);
  const secret = await addWebhook(store, receiver.url, fields);
  return { store, receiver, secret };
}

interface Options {
  db?: Database;
  send?: (outgoing: WebhookRequest, signal: AbortSignal) => Promise<AttemptOutcome>;
  /** Replaces the other ways to send. */
  sendBatch?: SendBatch;
  random?: () => number;
  /** For all receivers, or for the one at a URL. */
  timeoutMs?: number | ((url: string) => number);
  graceMs?: number;
  idleMs?: number;
  /** Whether it stops to renew leases and to poll after its first request. */
  fallsSilent?: boolean;
  neverTicks?: boolean;
}

const noResolver = { resolve4: async () => [], resolve6: async () => [] };

/** A dispatcher with the database and the clock of a store. It polls often, and stops with the store. */
export function startDispatcher(store: Petstore, options: Options = {}) {
  const { random = Math.random, timeoutMs = 15_000, graceMs = 300, idleMs = 50, fallsSilent } = options;
  const clock = () => store.nowMs;
  const ticker: Ticker = (work) =>
    realTicker(() => {
      if (!options.neverTicks && (!fallsSilent || running.sent === 0)) work();
    }, 10);
  const running = {
    /** The number of requests. */
    sent: 0,
    stop: () => dispatcher.stop(),
  };
  const sendHere = batchSender((outgoing, signal) => {
    running.sent++;
    if (options.send) return options.send(outgoing, signal);
    const withinMs = typeof timeoutMs === 'number' ? timeoutMs : timeoutMs(outgoing.url);
    const parts = { policy: testPolicy, resolver: noResolver, signal, clock };
    return sendRequest(outgoing, { ...parts, timeoutMs: withinMs });
  }, clock);
  const dispatcher = new Dispatcher({
    ...{ db: options.db ?? store.db, key: store.installation.key },
    changes: fallsSilent ? new ChangeNotifier() : store.changes,
    ...{ log: store.app.log, clock, random, ticker, graceMs, idleMs },
    isAlone: false,
    sendBatch: options.sendBatch ?? sendHere,
  });
  dispatcher.start();
  store.dispatchers.push(dispatcher);
  return Object.assign(running, { dispatcher });
}

type Behave = (request: IncomingMessage, response: ServerResponse) => void;
export const answer =
  (status: number, headers = {}): Behave =>
  (_request, response) =>
    response.writeHead(status, headers).end();

/** Adds a webhook; returns its secret. */
export async function addWebhook(store: Petstore, url: string, fields: object = {}): Promise<string> {
  const { status, body, text } = await store.call('POST', '/store/webhooks', { body: { url, ...fields } });
  assert.equal(status, 201, text);
  return body.secret;
}

/** Adds events of categories to the history of the first workspace. */
export const addEvents = (store: Petstore, count: number) =>
  store.change(async (sql) => {
    for (let i = 0; i < count; i++) recordEvent(sql, 1, categoryCreated, { id: i + 1, name: 'Dragons' });
  });

export const addCategory = (store: Petstore, name = 'Dragons') =>
  store.call('POST', '/categories', { body: { name } });

export const deliveriesOf = async (store: Petstore, id = 1) =>
  (await store.call('GET', `/store/webhooks/${id}/deliveries?limit=100`)).body;

export const webhook = async (store: Petstore, id = 1) =>
  (await store.call('GET', `/store/webhooks/${id}`)).body;

/** Waits until no delivery of the first webhook is pending. */
export const untilDelivered = (store: Petstore) =>
  until(async () =>
    (await deliveriesOf(store)).every(({ state }: { state: string }) => state === 'delivered'),
  );
