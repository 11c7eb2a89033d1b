import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startDemonstration } from './support/demonstration.ts';
import { sendExamples } from './support/examples.ts';
import { load } from './support/packages.ts';
import { pinnedTool, testTool } from './support/tool.ts';

interface Read {
  id: string;
  type: string;
  data: string;
}

/** Reads the stream by a reader until it has each stored event. */
async function readAll(
  t: TestContext,
  read: (
    url: string,
    headers: Record<string, string>,
    types: string[],
    onEvent: (event: Read) => void,
  ) => () => void,
): Promise<string> {
  const { origin, freshKey } = await startDemonstration(t);
  const key = await freshKey();
  await sendExamples(origin, key);
  const headers = { authorization: `Bearer ${key}` };
  const listed = await fetch(`${origin}/v1/store/events?limit=100`, { headers });
  const events = (await listed.json()) as { id: number; type: string }[];
  const { promise, resolve, reject } = Promise.withResolvers<Read[]>();
  AbortSignal.timeout(120_000).addEventListener('abort', reject);
  const got: Read[] = [];
  const types = [...new Set(events.map(({ type }) => type))];
  const close = read(`${origin}/v1/store/events/stream?after=0`, headers, types, (event) => {
    got.push(event);
    if (got.length === events.length) resolve(got);
  });
  t.after(close);
  assert.deepEqual(
    (await promise).map(({ id, type, data }) => ({ id, type, data: JSON.parse(data) })),
    events.map((event) => ({ id: String(event.id), type: event.type, data: event })),
  );
  return `${events.length} events`;
}

const asserts = 'It reads every stored event, with its id and its type.';

testTool(
  pinnedTool('eventsource', 'EventSource/eventsource', 'Receives', 'eventsource'),
  { called: '`new EventSource` with a `fetch` that sends the key', asserts, runs: true },
  (t) =>
    readAll(t, (url, headers, types, onEvent) => {
      const { EventSource } = load('eventsource');
      const source = new EventSource(url, {
        fetch: (url: string, options: RequestInit) =>
          fetch(url, { ...options, headers: { ...options.headers, ...headers } }),
      });
      for (const type of types)
        source.addEventListener(type, ({ lastEventId, data }: MessageEvent) =>
          onEvent({ id: lastEventId, type, data }),
        );
      return () => source.close();
    }),
);

testTool(
  pinnedTool('fetch-event-source', 'Azure/fetch-event-source', 'Receives', '@microsoft/fetch-event-source'),
  {
    called: '`fetchEventSource` with a header for the key',
    asserts,
    runs: true,
    exemptions: [
      'It yields a message with empty data for a block without data, which HTML says is no event.',
      'It is for browsers, so the test gives it `window` and `document`.',
    ],
  },
  (t) =>
    readAll(t, (url, headers, _, onEvent) => {
      Object.assign(globalThis, {
        window: globalThis,
        document: { addEventListener() {}, removeEventListener() {} },
      });
      const { fetchEventSource } = load('@microsoft/fetch-event-source');
      const controller = new AbortController();
      fetchEventSource(url, {
        headers,
        signal: controller.signal,
        openWhenHidden: true,
        onmessage: ({ id, event, data }: { id: string; event: string; data: string }) => {
          onEvent({ id, type: event, data });
        },
      });
      return () => controller.abort();
    }),
);

testTool(
  pinnedTool(
    'ratelimit-header-parser',
    'express-rate-limit/ratelimit-header-parser',
    'Receives',
    'ratelimit-header-parser',
  ),
  {
    called: '`parseRateLimit` on responses, with `PETSTORE_DRAFT_HEADERS=off`',
    asserts: 'It reads the limit, the requests left, and the end of the minute.',
    runs: true,
    exemptions: [
      'Of `RateLimit` it knows an older draft (`limit=…, remaining=…`) and prefers it to `X-RateLimit-*`, so the service has to leave `RateLimit` out.',
    ],
  },
  async (t) => {
    const { parseRateLimit } = load('ratelimit-header-parser');
    const { origin, freshKey } = await startDemonstration(t, { PETSTORE_DRAFT_HEADERS: 'off' });
    const headers = { authorization: `Bearer ${await freshKey()}` };
    const limits = [];
    for (let i = 0; i < 3; i++) {
      limits.push(parseRateLimit(await fetch(`${origin}/v1/pets`, { headers })));
    }
    const [first] = limits;
    assert.deepEqual([first.limit, first.remaining, first.used], [1_000, 999, 1]);
    for (const { remaining, used, reset } of limits) {
      assert.equal(remaining + used, first.limit);
      const waitMs = reset.getTime() - Date.now();
      assert.ok(waitMs > -1_000 && waitMs <= 60_000, reset);
    }
  },
);
