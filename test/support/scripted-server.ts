import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { createPetstore, type PetstoreOptions } from '../../src/client/index.ts';
import { serve } from './receiver.ts';

/** The reaction of a server to a request. */
type Deed = (response: ServerResponse, request: IncomingMessage) => void;

/** A response in the form of the API. */
export const answer =
  (status: number, body?: unknown, headers: Record<string, string> = {}): Deed =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };

/** A response with any text, or bytes. */
export const text =
  (body: string | Uint8Array, status = 200, headers: Record<string, string> = {}): Deed =>
  (response) =>
    response.writeHead(status, headers).end(body);

export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Deed =>
  answer(status, { code, message: `Refused: ${code}.`, status }, { 'x-request-id': 'req-1', ...headers });

/** Cuts the connection before a response. */
export const cut: Deed = (response) => response.destroy();

/** Sends half of a response. */
export const truncated: Deed = (response) => {
  response.writeHead(200, { 'content-length': '100' });
  response.write('[{"id":1', () => response.destroy());
};

interface Got {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** When it arrived, by the clock of the client. */
  atMs: number;
}

/**
 * A server that performs one action after the other, and repeats the last, with a client whose waits pass at once.
 */
export async function startScripted(t: TestContext, deeds: Deed[], options: Partial<PetstoreOptions> = {}) {
  const clock = fakeClock();
  const got: Got[] = [];
  const rest = [...deeds];
  const port = await serve(t, (request, response, body) => {
    const { method = '', url = '', headers } = request;
    got.push({ method, url, headers, body, atMs: clock.nowMs });
    const deed = (rest.length > 1 ? rest.shift() : rest[0]) as Deed;
    deed(response, request);
  });
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const store = createPetstore({ baseUrl, apiKey: 'pet_secret', clock, ...options });
  return { store, got, clock, baseUrl };
}

/** A clock whose waits pass at once. It counts them, except aborted ones. */
export function fakeClock(startMs = Date.parse('2026-06-01T12:00:00Z')) {
  const waitsMs: number[] = [];
  const clock = {
    nowMs: startMs,
    waitsMs,
    now: () => clock.nowMs,
    random: () => 0.5,
    async sleep(ms: number, signal: AbortSignal) {
      const untilMs = clock.nowMs + ms;
      await new Promise(setImmediate);
      signal.throwIfAborted();
      waitsMs.push(ms);
      clock.nowMs = Math.max(clock.nowMs, untilMs);
    },
  };
  return clock;
}
