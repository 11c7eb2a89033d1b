import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import { Changes } from '../../src/history/changes.ts';
import { Dispatcher, realTicker, type Ticker } from '../../src/webhooks/dispatcher.ts';
import { type Outcome, type Outgoing, send } from '../../src/webhooks/send.ts';
import { signedHeaders } from '../../src/webhooks/signature.ts';
import { type Petstore, testPolicy } from './petstore.ts';
import { listen } from './receiver.ts';

export interface Message {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver of webhooks on loopback. It answers 200 until `behave` is set; each request is in `messages` by then. */
export async function startReceiver(t: TestContext) {
  const messages: Message[] = [];
  const receiver = {
    url: '',
    messages,
    behave: (_request: IncomingMessage, response: ServerResponse): void => {
      response.end();
    },
    /** The headers as they would be now, once they were found to be those of these secrets then. */
    signedNow({ ...headers }: IncomingHttpHeaders, body: string, secrets: string[]): Record<string, string> {
      const id = String(headers['webhook-id']);
      const at = (atMs: number) => signedHeaders({ id, atMs, body }, secrets);
      const then = at(Number(headers['webhook-timestamp']) * 1_000);
      for (const [name, value] of Object.entries(then)) assert.equal(headers[name], value);
      return at(Date.now());
    },
  };
  const server = createServer(async (request, response) => {
    request.on('error', () => {});
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>).catch(() => []);
    messages.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    receiver.behave(request, response);
  });
  const { port } = await listen(t, server);
  receiver.url = `http://127.0.0.1:${port}/`;
  return receiver;
}

interface Options {
  db?: Database;
  send?: (outgoing: Outgoing, signal: AbortSignal) => Promise<Outcome>;
  random?: () => number;
  timeoutMs?: number;
  graceMs?: number;
  idleMs?: number;
  /** Whether it goes silent once it sends: then it renews nothing and looks for nothing. */
  fallsSilent?: boolean;
}

const noResolver = { resolve4: async () => [], resolve6: async () => [] };

/** A dispatcher over the database of a store, by its clock, which looks for work often. It stops with the store. */
export function startDispatcher(store: Petstore, options: Options = {}) {
  const {
    random = Math.random,
    timeoutMs = 15_000,
    graceMs = 300,
    idleMs = 50,
    fallsSilent = false,
  } = options;
  const clock = () => store.nowMs;
  const ticker: Ticker = (work) =>
    realTicker(() => {
      if (!fallsSilent || running.sent === 0) work();
    }, 10);
  const running = {
    /** How often it has sent. */
    sent: 0,
    stop: () => dispatcher.stop(),
  };
  const dispatcher = new Dispatcher({
    ...{ db: options.db ?? store.db, key: store.installation.key },
    changes: fallsSilent ? new Changes() : store.changes,
    ...{ log: store.app.log, clock, random, ticker, graceMs, idleMs },
    send: (outgoing, signal) => {
      running.sent++;
      return (
        options.send?.(outgoing, signal) ??
        send(outgoing, { policy: testPolicy, resolver: noResolver, timeoutMs, signal, clock })
      );
    },
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

export const addCategory = (store: Petstore, name = 'Dragons') =>
  store.call('POST', '/categories', { body: { name } });

export const deliveriesOf = async (store: Petstore, id = 1) =>
  (await store.call('GET', `/store/webhooks/${id}/deliveries?limit=100`)).body;

export const webhook = async (store: Petstore, id = 1) =>
  (await store.call('GET', `/store/webhooks/${id}`)).body;
