import assert from 'node:assert/strict';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import type { TestContext } from 'node:test';
import { assertMessage } from './asyncapi.ts';
import { assertAsDescribed, eventBlocksOf, isUndescribed } from './description.ts';
import type { Event } from './history.ts';
import { until } from './until.ts';

interface Options {
  key: string;
  query?: string;
  headers?: Record<string, string>;
}

/** A client of a stream with its own socket. */
export class Reader {
  text = '';
  status = 0;
  headers: Record<string, string> = {};
  /** Whether the stream has ended, and whether it ended without an error. */
  ended: 'no' | 'whole' | 'broken' = 'no';
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;

  constructor(origin: string, { key, query = '', headers = {} }: Options) {
    const url = `${origin}/v1/store/events/stream${query}`;
    this.#request = get(url, { headers: { 'x-api-key': key, ...headers }, agent: false }, (response) => {
      this.#response = response;
      this.status = response.statusCode as number;
      this.headers = response.headers as Record<string, string>;
      response.setEncoding('utf8').on('data', (chunk) => (this.text += chunk));
      response.on('close', () => (this.ended = response.complete ? 'whole' : 'broken'));
      response.on('error', () => {});
    });
    this.#request.on('error', () => (this.ended = 'broken'));
  }

  /** The complete events so far. */
  get events(): Event[] {
    return this.#blocks.flatMap((block) => {
      const [, id, type, data] = /^id: (\d+)\nevent: (\S+)\ndata: (.+)$/.exec(block) ?? [];
      if (data === undefined) return [];
      const event: Event = JSON.parse(data);
      assert.deepEqual([Number(id), type], [event.id, event.type]);
      return [event];
    });
  }

  get ids(): number[] {
    return this.events.map(({ id }) => id);
  }

  /** The last id of the stream. */
  get place(): number | undefined {
    const ids = this.#blocks.flatMap((block) => /^id: (\d+)/.exec(block)?.[1] ?? []);
    return ids.length > 0 ? Number(ids.at(-1)) : undefined;
  }

  get comments(): number {
    return this.text.match(/^:\n/gm)?.length ?? 0;
  }

  get #blocks(): string[] {
    return eventBlocksOf(this.text);
  }

  /** Waits for exactly this many events. */
  async untilIds(ids: number[]): Promise<void> {
    await until(() => this.ids.length >= ids.length || this.ended !== 'no');
    assert.deepEqual(this.ids, ids);
  }

  async untilEnded(): Promise<void> {
    await until(() => this.ended !== 'no');
  }

  /** Stops reading until `resume`. */
  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  /** Breaks the connection. */
  cut(): void {
    this.#request.destroy();
  }
}

/** Opens a stream, and waits for its head. At the end of the test the response is checked against the descriptions. */
export async function openStream(t: TestContext, origin: string, options: Options): Promise<Reader> {
  const reader = new Reader(origin, options);
  t.after(() => {
    reader.cut();
    const { status, headers, text } = reader;
    if (status === 0 || text === '') return;
    const answer = { status, headers, text };
    assertAsDescribed('GET', '/v1/store/events/stream', answer);
    if (isUndescribed('values', answer)) return;
    for (const event of reader.events)
      assertMessage('stream', { id: String(event.id), event: event.type }, event);
  });
  await until(() => reader.text.includes('\n') || reader.ended !== 'no');
  return reader;
}
