import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import type { Event } from '../events/schema.ts';
import { type Client, reasonOf } from '../lab-service.ts';
import { printable } from '../printable.ts';
import { signedHeaders } from '../webhooks/signature.ts';

/** What to listen to, and what to do with each event. */
export interface ListenOptions extends Client {
  /** All types if there are none. */
  types: readonly string[];
  /** The position to begin after; undefined: now. */
  after?: number | undefined;
  /** Where to post each event; undefined: events are printed alone. */
  forwardTo?: URL | undefined;
  secret: string;
  asJson: boolean;
}

/** The service sends something at least every 15 seconds. */
const silenceMs = 40_000;
const forwardWithinMs = 15_000;
/** When to ask again at the earliest, and at the latest. */
const [retryMs, maxRetryMs] = [2_000, 24 * 60 * 60_000];
/** Of an event, or of an error, more than any has. */
const maxCharacters = 1_000_000;

/**
 * Opens the stream of events and goes on until the process ends: after a cut it resumes behind the last event. Throws what the
 * service says if it refuses for good.
 */
export async function listen(options: ListenOptions): Promise<never> {
  const { forwardTo, secret, asJson } = options;
  if (forwardTo) note(`Forwarding to ${forwardTo.href}, signed with the secret ${secret}`);
  let position = options.after;
  const handle = async (event: Event, json: string) => {
    const outcome = forwardTo ? ` → ${await forward(forwardTo, event, json, secret)}` : '';
    const line = `#${event.id} ${event.timestamp} ${event.type}${outcome || ` ${dataOf(json)}`}`;
    console.log(printable(asJson ? json : line));
    if (asJson && outcome) note(`#${event.id}${outcome}`);
  };
  for (;;) {
    const response = await open(options, position);
    if (response?.ok) {
      note(`Listening to ${options.baseUrl}. End with Ctrl-C.`);
      position ??= Number(response.headers.get('last-event-id'));
      position = await readAll(response, position, handle);
      note('The stream ended. Going on behind the last event.');
    } else if (response?.status === 410) {
      note(`${await messageOf(response)} Going on from now.`);
      position = undefined;
    }
    await sleep(Math.min(Math.max(retryMs, askedMs(response)), maxRetryMs));
  }
}

/** How long `Retry-After` tells to wait, as seconds or as a date; 0 if it tells nothing. */
function askedMs(response: Response | undefined): number {
  const after = response?.headers.get('retry-after') ?? '';
  return (/^\d+$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now()) || 0;
}

/** Asks for the stream. Undefined if the service cannot be reached; throws if asking again would not help. */
async function open(
  { baseUrl, key, types }: ListenOptions,
  after: number | undefined,
): Promise<Response | undefined> {
  const query = new URLSearchParams(types.map((type) => ['type', type]));
  if (after !== undefined) query.set('after', String(after));
  let response: Response;
  try {
    response = await fetch(`${baseUrl}/store/events/stream?${query}`, {
      headers: { authorization: `Bearer ${key}` },
      redirect: 'manual',
    });
  } catch (error) {
    note(`${baseUrl} cannot be reached (${reasonOf(error)}). Trying again.`);
    return undefined;
  }
  const isForLater = [403, 410, 429].includes(response.status) || response.status >= 500;
  if (!response.ok && !isForLater) throw new Error(await messageOf(response));
  if (!response.ok && response.status !== 410) note(`${await messageOf(response)} Trying again.`);
  return response;
}

/** Handles the events of a stream one by one until it ends, and returns the position behind the last. */
async function readAll(
  response: Response,
  start: number,
  handle: (event: Event, json: string) => Promise<void>,
): Promise<number> {
  let position = start;
  const arrived: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => arrived.push(data),
    maxBufferSize: maxCharacters,
  });
  const decoder = new TextDecoder();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  try {
    for (;;) {
      const timer = setTimeout(() => reader.cancel(), silenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return position;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const json of arrived.splice(0)) {
        const event: Event = JSON.parse(json);
        await handle(event, json);
        position = event.id;
      }
    }
  } catch (error) {
    note(`The stream broke (${reasonOf(error)}).`);
    await reader.cancel().catch(() => {});
    return position;
  }
}

/** Posts an event as the service would, once, and tells what came of it. */
async function forward(url: URL, event: Event, body: string, secret: string): Promise<string> {
  const startedMs = performance.now();
  const message = { id: `evt_listen_${event.id}`, atMs: Date.now(), body };
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...signedHeaders(message, [secret]) },
      signal: AbortSignal.timeout(forwardWithinMs),
    });
    await response.body?.cancel();
    return `${response.status} in ${Math.round(performance.now() - startedMs)} ms`;
  } catch (error) {
    return `failed: ${reasonOf(error)}`;
  }
}

/** Notes go to standard error, so that standard output holds events alone. */
const note = (text: string) => console.error(printable(text));

const dataOf = (json: string) => JSON.stringify(JSON.parse(json).data);

async function messageOf(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxCharacters) break;
    }
    return JSON.parse(text).message ?? `The answer is ${response.status}.`;
  } catch {
    return `The answer is ${response.status}.`;
  }
}
